/** How much of everything a peer may send. Whatever is over a cap is refused before it costs more than its own bytes. */
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
  /** Bytes of one header's decoded value. */
  readonly maxHeaderValueBytes: number
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
  maxHeaderValueBytes: 8 * 1024,
}
