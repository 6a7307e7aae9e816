import { asUnknown } from '../../model/as-unknown.ts'
import { CallFailed } from '../../model/failure.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Outgoing, Received } from '../../peer/link.ts'
import type { RequestId } from '../../wire/envelope.ts'
import { createSseDecoder, type SseDecoder } from '../../wire/sse.ts'
import { createBody, type Body } from './http-body.ts'
import { definedRetryAfter, errorMessageIn, maxErrorBytes, retryAfterOf, statusFailure } from './http-failures.ts'
import { deliver, follow, isResumable } from './http-follow.ts'
import { isEventStream, type Abandonable, type HttpRoom } from './http-room.ts'
import type { HttpListener, ReadHeader } from './http-types.ts'
import { answers, isErrorWithoutId, readMessages, tellNoise, tooLargeFailure } from './messages.ts'
import { oversizedAt } from './oversized.ts'

/** A request on its way. */
export interface PostOptions extends Outgoing {
  readonly id: RequestId
}

/** How often in a row a stream that broke before its answer is taken up again in vain. */
const maxFailures = 5
/** Characters that show whether a message is an answer. */
const maxHead = 1_024
/** Milliseconds that a stream may stay open after its answer. */
const lingerMs = 1_000

/**
 * Posts a request and tells the room's listener what comes of it: its messages, or that it was lost. Resolves once the
 * response has begun; rejects where none began. A class, since there is one for every request.
 */
export function postRequest(room: HttpRoom, outgoing: PostOptions): Promise<void> {
  return new Promise((resolve, reject) => new Post(room, outgoing, resolve, reject).start())
}

class Post implements HttpListener, Abandonable {
  readonly #room: HttpRoom
  readonly #outgoing: PostOptions
  readonly #begun: () => void
  readonly #failed: (failure: CallFailed) => void
  readonly #onAbort = (): void => this.abandon()
  #received: Received = {}
  #letGo: () => void = () => {}
  #body: Body | undefined
  #refused: { readonly status: number; readonly header: ReadHeader } | undefined
  #stream: SseDecoder | undefined
  #retryMs: number | undefined
  #contentType = ''
  #responded = false
  #answered = false
  #over = false
  #linger: NodeJS.Timeout | undefined

  constructor(room: HttpRoom, outgoing: PostOptions, begun: () => void, failed: (failure: CallFailed) => void) {
    this.#room = room
    this.#outgoing = outgoing
    this.#begun = begun
    this.#failed = failed
  }

  start(): void {
    const { text, headers, signal, revision } = this.#outgoing
    this.#room.open.add(this)
    signal?.addEventListener('abort', this.#onAbort)
    const request = this.#room.request('POST', headers ?? {}, text)
    this.#letGo = this.#room.send.send(revision === undefined ? request : { ...request, revision }, this)
  }

  head(status: number, header: ReadHeader): void {
    const gone = this.#room.seen(status, header)
    this.#responded = true
    this.#begun()
    if (this.#over) return
    this.#received = { on: this.#outgoing.id, status, ...definedRetryAfter(retryAfterOf(header)) }
    this.#contentType = header('content-type') ?? ''
    const { caps } = this.#room
    if (status === 200 && isEventStream(header)) this.#stream = this.#decode()
    else if (status >= 200 && status < 300) this.#body = createBody(caps.maxMessageBytes)
    else {
      this.#body = createBody(Math.min(maxErrorBytes, caps.maxMessageBytes))
      this.#refused = { status, header }
    }
    // There is nothing to be learnt of a session that is gone but that.
    if (gone) this.#lose(statusFailure(status, header, new Uint8Array(0), caps))
  }

  data(chunk: Uint8Array): void {
    if (this.#over) return
    if (this.#stream !== undefined) this.#stream.push(chunk)
    else if (this.#body?.add(chunk) === false) this.#overflow()
  }

  end(): void {
    if (this.#over) return
    if (this.#refused !== undefined) this.#endRefusal(this.#refused)
    else if (this.#stream !== undefined) this.#endStream('the server ended the stream before it answered')
    else this.#endBody()
  }

  authorizing(waiting: boolean): void {
    if (!this.#over) this.#room.listener()?.waits?.(this.#outgoing.id, waiting)
  }

  fail(failure: CallFailed): void {
    if (this.#over) return
    if (!this.#responded) {
      this.#finish()
      this.#failed(failure)
    } else if (this.#refused !== undefined) this.#endRefusal(this.#refused)
    else if (this.#stream !== undefined) this.#endStream(failure.message)
    else this.#lose(asUnknown(failure))
  }

  abandon(): void {
    if (this.#over) return
    this.#finish()
    this.#letGo()
    this.#begun()
  }

  #take = (message: JsonObject): void => {
    if (this.#over) return
    if (answers(message, this.#outgoing.id) || isErrorWithoutId(message)) this.#answered = true
    this.#room.listener()?.message(message, this.#received)
  }

  #decode(): SseDecoder {
    return createSseDecoder({
      maxBytes: this.#room.caps.maxMessageBytes,
      onEvent: ({ event, data }) => {
        if (this.#over || data === '') return
        deliver(this.#room, event, data, { message: this.#take, tooMuch: this.#tooMuch })
        if (this.#answered) this.#linger ??= setTimeout(this.#onAbort, lingerMs)
      },
      onRetry: (milliseconds) => (this.#retryMs = milliseconds),
      onOverflow: (head) => this.#skip(head),
    })
  }

  #endBody(): void {
    const text = this.#body?.take() ?? new Uint8Array(0)
    let tooMuch: CallFailed | undefined
    const note = (failure: CallFailed): void => void (tooMuch = failure)
    const whole = text.length > 0 && readMessages(text, this.#room.caps, this.#take, note)
    if (this.#answered) return this.#finish()
    if (tooMuch !== undefined) return this.#lose(tooMuch)
    const what = whole ? 'answered another request' : `sent no message${text.length > 0 ? '' : ' at all'}`
    const message = `the server ${what} (HTTP status ${this.#received.status}, content type "${this.#contentType}")`
    this.#lose(new CallFailed('ProtocolViolation', { ran: 'unknown', message }))
  }

  #endRefusal({ status, header }: { readonly status: number; readonly header: ReadHeader }): void {
    const { caps } = this.#room
    const body = this.#body?.take() ?? new Uint8Array(0)
    const failure = statusFailure(status, header, body, caps)
    const error = failure.kind === 'Unauthorized' ? undefined : errorMessageIn(body, caps)
    if (error === undefined) return this.#lose(failure)
    this.#take(error)
    this.#finish()
  }

  #endStream(message: string): void {
    if (this.#answered) return this.#finish()
    const failure = new CallFailed('ConnectionLost', { ran: 'unknown', message })
    const lastEventId = this.#stream?.lastEventId ?? ''
    if (lastEventId === '' || !isResumable(lastEventId) || !this.#room.resumable()) return this.#lose(failure)
    const following = follow(this.#room, {
      lastEventId,
      retryMs: this.#retryMs,
      again: true,
      maxFailures,
      message: (message) => {
        this.#take(message)
        if (this.#answered) this.abandon()
      },
      overflow: (head) => this.#skip(head),
      tooMuch: this.#tooMuch,
      // That the stream cannot be reached says nothing of the request, which was.
      lost: (failure) => this.#lose(asUnknown(failure)),
    })
    this.#letGo = () => following.abandon()
  }

  /** An event was too large: the answer, unless it shows that it is something else. */
  #skip(head: string): void {
    if (oversizedAt(head).kind !== 'other') return this.#overflow()
    const { listener, caps } = this.#room
    tellNoise(listener(), 'stream', `an event of more than ${caps.maxMessageBytes} bytes`)
  }

  #tooMuch = (data: string, failure: CallFailed): void => {
    if (oversizedAt(data.slice(0, maxHead)).kind !== 'other') this.#lose(failure)
  }

  #overflow(): void {
    if (this.#refused !== undefined) {
      this.#letGo()
      return this.#endRefusal(this.#refused)
    }
    this.#lose(tooLargeFailure(this.#room.caps))
  }

  /** Nothing more will come. */
  #lose(failure: CallFailed): void {
    if (this.#over) return
    this.#finish()
    this.#letGo()
    if (!this.#answered) this.#room.listener()?.lost(this.#outgoing.id, failure)
  }

  #finish(): void {
    this.#over = true
    clearTimeout(this.#linger)
    this.#room.open.delete(this)
    this.#outgoing.signal?.removeEventListener('abort', this.#onAbort)
  }
}
