import type { Answer, Outlet, ReadHeader } from '../../peer/peer.ts'
import type { Accepted } from '../../wire/media.ts'
import { sseComment, sseEvent } from '../../wire/sse.ts'
import type { EventStream } from './event-stream.ts'
import type { HttpReply } from './http-types.ts'

export const jsonHeaders: readonly string[] = ['content-type', 'application/json']
export const sseHeaders: readonly string[] = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
]

/** The response to one POST while its answer is being made. */
export interface Answering {
  readonly outlet: Outlet
  /** Ends the response: with the answer, or with nothing when the exchange was cancelled. */
  finish(answer: Answer | undefined): void
  /** Ends the response with several answers, as one JSON array or as an event each. */
  finishAll(answers: readonly Answer[], status: number): void
  /** Shows the client, and whatever stands between, that somebody is still there. */
  keepAlive(): void
}

/** Opens streams that can be resumed. */
export interface StreamOpener {
  /** Whether streams open with an event that only carries an id, so that the server may let go at any time. */
  readonly primed: boolean
  /** Opens a stream with `reply`, whose head is sent, as its reader. @param retryMs instead of the usual delay */
  open(reply: HttpReply, retryMs?: number): EventStream
}

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
 * Answers with JSON, unless something is sent before the answer and the client takes events: then with a stream
 * (specification, "Sending Messages to the Server"). To a client that takes only JSON, notifications are not sent.
 */
export function createAnswering({ reply, accepted, header, headers, resumable, elsewhere }: AnsweringOptions): Answering {
  const withHeaders = (own: readonly string[]): readonly string[] =>
    headers === undefined ? own : [...own, ...headers]
  let stream: EventStream | undefined
  let streaming = false
  let ended = false

  function start(retryMs?: number): void {
    if (streaming) return
    streaming = true
    reply.head(200, withHeaders(sseHeaders))
    stream = resumable?.open(reply, retryMs)
  }
  function event(text: string, final: boolean): void {
    if (stream !== undefined) stream.push(text, final)
    else reply.write(sseEvent(text))
  }
  function send(text: string): boolean {
    if (ended || !accepted.sse || (reply.closed && !streaming)) return false
    start()
    event(text, false)
    return stream !== undefined || !reply.closed
  }
  function finish(answer: Answer | undefined): void {
    if (ended) return
    if (answer !== undefined && (streaming || (!accepted.json && answer.status === 200))) {
      start()
      event(answer.text, true)
    }
    ended = true
    if (streaming) close()
    else if (answer === undefined) reply.full(202, withHeaders([]))
    else reply.full(answer.status, withHeaders(answerHeaders(answer)), answer.text)
  }
  function close(): void {
    stream?.close()
    reply.end()
  }

  return {
    outlet: {
      header,
      send: (text) => void send(text),
      ask: (text) => send(text) || (!ended && elsewhere !== undefined && elsewhere(text)),
      ...(resumable?.primed === true && {
        disconnect(retryMs: number) {
          if (ended || !accepted.sse || reply.closed) return
          if (streaming) stream?.retry(retryMs)
          else start(retryMs)
          reply.end()
        },
      }),
    },
    finish,
    finishAll(answers, status) {
      if (ended) return
      if (!streaming && accepted.json) {
        ended = true
        return reply.full(status, withHeaders(jsonHeaders), `[${answers.map((answer) => answer.text).join(',')}]`)
      }
      start()
      answers.forEach((answer, index) => event(answer.text, index === answers.length - 1))
      ended = true
      close()
    },
    keepAlive() {
      if (ended || !accepted.sse) return
      if (stream !== undefined) return stream.keepAlive()
      if (reply.closed) return
      start()
      reply.write(sseComment('keep-alive'))
    },
  }
}

/** The headers that go with an answer as JSON. */
export function answerHeaders(answer: Answer): readonly string[] {
  return answer.retryAfter === undefined ? jsonHeaders : [...jsonHeaders, 'retry-after', String(answer.retryAfter)]
}
