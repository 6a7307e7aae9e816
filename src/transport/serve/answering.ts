import type { Answer, Outlet, ReadHeader } from '../../peer/peer.ts'
import type { Accepted } from '../../wire/media.ts'
import { sseComment, sseEvent } from '../../wire/sse.ts'
import type { EventStream } from './event-stream.ts'
import type { HttpReply } from './http-types.ts'

/** Headers of an answer as JSON, names and values in turn. */
export const jsonHeaders: readonly string[] = ['content-type', 'application/json']

/** Headers of a stream, names and values in turn; proxies are told to pass events on at once. */
export const sseHeaders: readonly string[] = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
]

/** Opens streams that can be resumed. */
export interface StreamOpener {
  /** Whether streams open with an event that only carries an id, so that the server may let go at any time. */
  readonly primed: boolean
  /** Opens a stream with `reply`, whose head is sent, as its reader. @param retryMs instead of the usual delay */
  open(reply: HttpReply, retryMs?: number): EventStream
}

/** What surrounds the answer to one POST. */
export interface AnsweringOptions {
  readonly reply: HttpReply
  readonly accepted: Accepted
  /** The headers of the request, for whoever answers it. */
  readonly header?: ReadHeader
  /** Headers of the response besides those of its kind. */
  readonly headers?: readonly string[]
  /** Where the revision resumes streams: what is sent goes through one. */
  readonly resumable?: StreamOpener | undefined
  /** Another way to the client, for asks that cannot go on this response. */
  readonly elsewhere?: ((text: string) => boolean) | undefined
}

/**
 * The response to one POST while its answer is being made. It answers with JSON, unless something is sent before the
 * answer and the client takes events: then with a stream (specification, "Sending Messages to the Server"). To a client
 * that takes only JSON, notifications are not sent. A class, since there is one for every request.
 */
export class Answering implements Outlet {
  readonly #options: AnsweringOptions
  #stream: EventStream | undefined
  #streaming = false
  #ended = false

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  send(text: string): void {
    this.#send(text)
  }

  get header(): ReadHeader | undefined {
    return this.#options.header
  }

  get ask(): (text: string) => boolean {
    const { elsewhere } = this.#options
    return (text) => this.#send(text) || (!this.#ended && elsewhere !== undefined && elsewhere(text))
  }

  get disconnect(): ((retryMs: number) => void) | undefined {
    return this.#options.resumable?.primed === true ? (retryMs) => this.#letGo(retryMs) : undefined
  }

  /** Ends the response: with the answer, or with nothing when the exchange was cancelled. */
  finish(answer: Answer | undefined): void {
    if (this.#ended) return
    const { reply, accepted } = this.#options
    if (answer !== undefined && (this.#streaming || (!accepted.json && answer.status === 200))) {
      this.#start()
      this.#event(answer.text, true)
    }
    this.#ended = true
    if (this.#streaming) this.#close()
    else if (answer === undefined) reply.full(202, this.#headers([]))
    else reply.full(answer.status, this.#headers(answerHeaders(answer)), answer.text, answer.pieces)
  }

  /** Ends the response with several answers, as one JSON array or as an event each. */
  finishAll(answers: readonly Answer[], status: number): void {
    if (this.#ended) return
    const { reply, accepted } = this.#options
    if (!this.#streaming && accepted.json) {
      this.#ended = true
      return reply.full(status, this.#headers(jsonHeaders), `[${answers.map((answer) => answer.text).join(',')}]`)
    }
    this.#start()
    answers.forEach((answer, index) => this.#event(answer.text, index === answers.length - 1))
    this.#ended = true
    this.#close()
  }

  /** Shows the client, and whatever stands between, that somebody is still there. */
  keepAlive(): void {
    const { reply, accepted } = this.#options
    if (this.#ended || !accepted.sse) return
    if (this.#stream !== undefined) return this.#stream.keepAlive()
    if (reply.closed) return
    this.#start()
    reply.write(sseComment('keep-alive'))
  }

  #headers(own: readonly string[]): readonly string[] {
    const { headers } = this.#options
    return headers === undefined ? own : [...own, ...headers]
  }

  #start(retryMs?: number): void {
    if (this.#streaming) return
    const { reply, resumable } = this.#options
    this.#streaming = true
    reply.head(200, this.#headers(sseHeaders))
    this.#stream = resumable?.open(reply, retryMs)
  }

  #event(text: string, final: boolean): void {
    if (this.#stream !== undefined) this.#stream.push(text, final)
    else this.#options.reply.write(sseEvent(text))
  }

  #send(text: string): boolean {
    const { reply, accepted } = this.#options
    if (this.#ended || !accepted.sse || (reply.closed && !this.#streaming)) return false
    this.#start()
    this.#event(text, false)
    return this.#stream !== undefined || !reply.closed
  }

  #letGo(retryMs: number): void {
    const { reply, accepted } = this.#options
    if (this.#ended || !accepted.sse || reply.closed) return
    if (this.#streaming) this.#stream?.retry(retryMs)
    else this.#start(retryMs)
    reply.end()
  }

  #close(): void {
    this.#stream?.close()
    this.#options.reply.end()
  }
}

/** The headers that go with an answer as JSON. */
export function answerHeaders({ retryAfter, challenge }: Answer): readonly string[] {
  if (retryAfter === undefined && challenge === undefined) return jsonHeaders
  const headers = [...jsonHeaders]
  if (retryAfter !== undefined) headers.push('retry-after', String(retryAfter))
  // What cannot stand in a header would keep the whole answer from being sent.
  if (challenge !== undefined) headers.push('www-authenticate', challenge.replaceAll(/[^\t\x20-\x7e]/g, '?'))
  return headers
}
