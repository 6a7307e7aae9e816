/**
 * How much of everything a peer may send, hold open, and take its time over. Whatever is over a cap is refused before it
 * costs more than its own bytes. `docs/limits.md` is printed from this file.
 */
export interface Caps {
  /** Bytes of one message: a POST body, a line, the data of one event. */
  readonly maxMessageBytes: number
  /** How deep arrays and objects may nest; the outermost counts as 1. */
  readonly maxDepth: number
  /** Members of all objects in one message together. */
  readonly maxKeys: number
  /** Values in one message: members and elements, at all depths together. */
  readonly maxValues: number
  /** Messages in one batch. */
  readonly maxBatch: number
  /** Headers of one HTTP request. */
  readonly maxHeaders: number
  /** Bytes of all headers of one HTTP request together, and of the path. */
  readonly maxHeaderBytes: number
  /** Requests that one connection or one session has running at once. */
  readonly maxInFlight: number
  /**
   * Responses that one HTTP endpoint has open at once: requests that run, and streams. Answers to what a client was asked,
   * notifications, the end of a session, and a stream in place of one that is open are taken in all the same.
   */
  readonly maxOpen: number
  /** Streams without an end that one HTTP endpoint has open at once: `subscriptions/listen`, GET, HTTP+SSE. */
  readonly maxListeners: number
  /** Of those, the streams of one principal; on a connection, the `subscriptions/listen` that are open on it. */
  readonly maxListenersEach: number
  /** Resources that one session, or one `subscriptions/listen`, is told about. */
  readonly maxSubscriptions: number
  /** Questions to the client that wait for their answers at once in one session. */
  readonly maxPendingAsks: number
  /** Bytes that may wait for a client which does not read; then it is cut off. */
  readonly maxUnreadBytes: number
  /**
   * Milliseconds that the headers of an HTTP request may take to arrive, and that `authenticate` may take to tell who
   * connects to a socket.
   */
  readonly headersTimeoutMs: number
  /** Milliseconds that a message may take to arrive once it has begun: an HTTP request, a line on a socket. */
  readonly messageTimeoutMs: number
  /** Milliseconds that a client may take nothing of what waits for it; then it is cut off. */
  readonly stallTimeoutMs: number
}

/** The caps that hold unless told otherwise. */
export const defaultCaps: Caps = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxDepth: 128,
  maxKeys: 100_000,
  maxValues: 1_000_000,
  maxBatch: 100,
  maxHeaders: 100,
  maxHeaderBytes: 16 * 1024,
  maxInFlight: 1_000,
  maxOpen: 10_000,
  maxListeners: 10_000,
  maxListenersEach: 100,
  maxSubscriptions: 1_000,
  maxPendingAsks: 100,
  maxUnreadBytes: 16 * 1024 * 1024,
  headersTimeoutMs: 15_000,
  messageTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
}
