import type { Principal } from '../../model/notification.ts'
import type { Clock, Logger, Random, Seal } from '../../model/ports.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Store } from '../../model/store.ts'
import type { Answer, ReadHeader } from '../../peer/peer.ts'
import type { Caps } from '../../wire/caps.ts'
import type { GuardOptions } from './guard.ts'

/** One HTTP request, whatever carries it. */
export interface HttpRequest {
  readonly method: string
  /** May still carry its query, but no host. */
  readonly path: string
  /** The path as the client knows it, where a router has taken off what it was mounted at. May carry its query. */
  readonly originalPath?: string | undefined
  readonly header: ReadHeader
  /**
   * The HTTP status that the head deserves as it is: 431 for more headers than `caps` allow, or longer ones; 400 for more
   * than one Host (RFC 9112, section 3.2).
   */
  fault(caps: Caps): 400 | 431 | undefined
  /** Reads the body once; refuses it as soon as it is over the cap. `'late'`: it was not whole in time. */
  body(): Promise<Uint8Array | Refusal | 'late'>
}

/** The response to one HTTP request: either {@link HttpReply.full}, or a head, texts and an end. */
export interface HttpReply {
  /**
   * Sends a whole response. @param headers names and values, one after the other
   * @param pieces what `text` is made of, where that is quicker to send
   */
  full(status: number, headers: readonly string[], text?: string, pieces?: Answer['pieces']): void
  head(status: number, headers: readonly string[]): void
  write(text: string): void
  end(): void
  /** Calls `listener` if the client goes away before the response has ended. */
  onClose(listener: () => void): void
  /** Ended, or the client went away. */
  readonly closed: boolean
}

/** Tells on whose behalf a request is made, or refuses it. Anything else that it returns lets nobody in. */
export type Authenticate = (
  request: HttpRequest,
) => Principal | Refusal | undefined | Promise<Principal | Refusal | undefined>

/** What every HTTP endpoint can be told. */
export interface HttpOptions extends GuardOptions {
  /** The path of the endpoint, `/mcp` by default; `*` answers on every path, for a router that strips its own. */
  readonly path?: string
  /**
   * The path of the older HTTP+SSE, `/sse` by default; `false` leaves it out.
   * @deprecated HTTP+SSE is deprecated from 2025-03-26: it is served for clients that have nothing else.
   */
  readonly ssePath?: string | false
  /** Without it nobody is asked who they are. */
  readonly authenticate?: Authenticate
  readonly caps?: Partial<Caps>
  readonly logger?: Logger
  readonly clock?: Clock
  readonly random?: Random
  /** Seals session ids, so that any process with the same keys takes up a session. */
  readonly seal?: Seal
  /** Keeps the events of streams that can be resumed. Without it they cannot. */
  readonly store?: Store
  /** Milliseconds between two keep-alive comments on a quiet stream; 15,000 by default. */
  readonly keepAliveMs?: number
  /** Milliseconds after which a client is to come back to a stream that broke; 1,000 by default. */
  readonly retryMs?: number
  /** Milliseconds that the events of a stream are kept after the last of them; 5 minutes by default. */
  readonly keepEventsMs?: number
  /** Events that are kept of one stream; 1,000 by default. */
  readonly maxEvents?: number
  /**
   * Where a session is that a handshake opened. `sealed`, the default: in its id, as sealed text, so that an idle session
   * costs nothing anywhere. `stored`: in the store, under a short random id. Either way every process on the same store
   * serves it.
   */
  readonly sessions?: 'sealed' | 'stored'
  /** Milliseconds without a request after which this process lets go of what it keeps of a session; 30 minutes by default. */
  readonly sessionIdleMs?: number
  /**
   * Idle sessions of which this process keeps something, at most: 200 by default, since all of it can be had again. Without
   * a store it cannot, and the default is 10,000.
   */
  readonly maxSessions?: number
}
