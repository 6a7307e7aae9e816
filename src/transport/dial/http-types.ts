import { CallFailed } from '../../model/failure.ts'

/** One HTTP request. */
export interface HttpRequest {
  readonly method: 'DELETE' | 'GET' | 'POST'
  readonly url: URL
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The revision that it is of, as far as it is known. */
  readonly revision?: string
}

/** Reads a header of a response by its name in lower case. */
export type ReadHeader = (name: string) => string | undefined

/** Who hears of one response: `head`, then pieces of the body, then `end`; or `fail` at any time, as the last. */
export interface HttpListener {
  head(status: number, header: ReadHeader): void
  /** The bytes are the listener's to keep. */
  data(chunk: Uint8Array): void
  end(): void
  /** Credentials are being had for the request, with a person's help perhaps; or not any more. */
  authorizing?(waiting: boolean): void
  /** The response will not come, or not all of it. `ran: 'no'`: certainly nothing of the request arrived. */
  fail(failure: CallFailed): void
}

/** A way to send HTTP requests; all that a link needs of it. */
export interface HttpSend {
  /** Sends a request. @returns lets go of it and of its response, after which its listener hears nothing more */
  send(request: HttpRequest, listener: HttpListener): () => void
  /** Lets go of what is kept for further requests. */
  close(): void
}

/** Tells `listener`, later, of a request that cannot be written down: a header with a line end in it, say. */
export function unsendable(cause: unknown, listener: HttpListener): () => void {
  const why = cause instanceof Error ? cause.message : String(cause)
  const failure = new CallFailed('Unreachable', { ran: 'no', message: `the request cannot be sent: ${why}`, cause })
  const timer = setTimeout(() => listener.fail(failure))
  return () => clearTimeout(timer)
}
