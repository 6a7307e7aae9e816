import type { LinkListener } from '../../peer/link.ts'
import type { Caps } from '../../wire/caps.ts'
import type { HttpRequest, HttpSend, ReadHeader } from './http-types.ts'

/** What the requests of one link share. */
export interface HttpRoom {
  readonly caps: Caps
  readonly send: HttpSend
  /** Who hears of it; nobody any more once the link is closed. */
  listener(): LinkListener | undefined
  /** A request to the server with the headers of the link; those of `headers` come on top. */
  request(method: HttpRequest['method'], headers: Readonly<Record<string, string>>, body?: string): HttpRequest
  /** Milliseconds after which a stream is taken up again, unless the server says. */
  readonly retryMs: number
  /** Milliseconds that what has no answer may take to be acknowledged. */
  readonly acknowledgeTimeoutMs: number
  /** Whether a stream that broke can be taken up again. */
  resumable(): boolean
  /** Told of every response's head, for the session that it may open or deny. @returns whether the session is gone */
  seen(status: number, header: ReadHeader): boolean
  /** What has to be let go of when the link is closed. */
  readonly open: Set<Abandonable>
}

/** Something under way that can be let go of, quietly. */
export interface Abandonable {
  abandon(): void
}

/** Whether a response is a stream of events. */
export function isEventStream(header: ReadHeader): boolean {
  const [type = ''] = (header('content-type') ?? '').split(';', 1)
  return type.trim().toLowerCase() === 'text/event-stream'
}

/** Headers with their names in lower case: one in another case would be sent twice. */
export function lowerCased(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
