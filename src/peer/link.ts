import type { HttpTraits, Transport } from '../codec/codec.ts'
import type { CallFailed } from '../model/failure.ts'
import type { JsonObject } from '../model/json.ts'
import type { RequestId } from '../wire/envelope.ts'

/** One message on its way to a server. */
export interface Outgoing {
  readonly text: string
  /** Of a request; notifications and answers have none. */
  readonly id?: RequestId
  /** The revision that a request is of, also before one was agreed on. */
  readonly revision?: string
  /** HTTP headers that repeat the body, names in lower case; transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Gives up on the request: its carrier is let go, and nothing more is reported of it. */
  readonly signal?: AbortSignal
}

/** What HTTP said of a message that came as the body of a response. */
export interface Received {
  /** The request whose response carried the message; absent where all messages share one stream. */
  readonly on?: RequestId
  /** HTTP status. */
  readonly status?: number
  /** Seconds. */
  readonly retryAfter?: number
}

/** Who hears what a link has to say. Nothing is called before {@link Link.open}, and nothing after `closed`. */
export interface LinkListener {
  /** A JSON object came. A batch is told one by one; what is no JSON object is `noise`. */
  message(message: JsonObject, received: Received): void
  /**
   * A request will get no answer any more: its carrier ended, and could not be resumed. Told once, and never for a
   * request that a message answered. An HTTP error without a message is told this way, its kind `HttpStatus`; so is a
   * refusal of credentials (401, and 403 with a challenge) whatever it carries, its kind `Unauthorized`; an answer that is
   * larger than is taken, `TooLarge`; and a response without any answer in it, `ProtocolViolation`.
   */
  lost(id: RequestId, failure: CallFailed): void
  /**
   * A request waits for something that takes a person's time, such as agreeing to its credentials (`true`), or does not any
   * more (`false`). Told in turns.
   */
  waits?(id: RequestId, waiting: boolean): void
  /**
   * The session that the link carried is gone on the server's side (HTTP 404): a new one can be opened on a new link. Told
   * once, and before each request of the session that met it is told as lost.
   */
  expired?(): void
  /**
   * What the server says unasked is heard from now on (`true`), or no more (`false`). Told in turns by a link that has
   * {@link Link.listening}; what is said between two of them may be missed.
   */
  hears?(hears: boolean): void
  /** The whole link ended by itself. */
  closed(failure: CallFailed): void
  /** What was skipped: a stray line on stdout, a line of stderr, an event that is no message. At most 1,024 characters of it. */
  noise?(from: 'stdout' | 'stderr' | 'stream', text: string): void
}

/** What a handshake or a probe came to, as far as the link has to know. */
export interface LinkAgreement {
  readonly revision: string
  readonly http: HttpTraits
}

/** One way to a server, without any knowledge of methods. The client's end of a transport. */
export interface Link {
  readonly transport: Transport
  /** Connects. Once. @throws CallFailed `Unreachable`, `ServerExited`, `HttpStatus`, `Unauthorized`; all `ran: 'no'` */
  open(listener: LinkListener): Promise<void>
  /**
   * Hands over a message; resolves once it has left, which for HTTP is once the response began. A request that cannot
   * be sent rejects with CallFailed, whose `ran` tells whether it can have arrived; `lost` is not told as well.
   */
  send(outgoing: Outgoing): Promise<void>
  /**
   * Tells what was agreed: HTTP sends its version header from then on; and once the next message without an answer was
   * taken (`notifications/initialized`), it opens the stream of a session, where the server has one.
   */
  agree(agreement: LinkAgreement): void
  /**
   * Resolves once the link hears what the server says unasked, also where that broke before, or it is clear that it will not, or a
   * second is over. Resolves to whether it hears, and has ever since, so that nothing is
   * missed. Never rejects. Absent where a link hears from its beginning to its end.
   */
  listening?(): Promise<() => boolean>
  /** Resolves once everything is let go of: streams, sockets, the process with its children. Ends the session, where there is one. */
  close(): Promise<void>
}

/** Where a server is, and the ways of getting there. */
export interface Target {
  /** Origin and path, command line or socket: what is learnt of a server is remembered under it. */
  readonly key: string
  /** The ways to try, the best first: `['http', 'http+sse']` for a URL. */
  readonly transports: readonly Transport[]
  /** Makes a link that is not open yet. */
  link(transport: Transport): Link
  /** Tells whose answers these are; see `Authorization.context`. */
  readonly context?: string
}
