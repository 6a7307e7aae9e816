import { CallFailed } from '../../model/failure.ts'
import type { Link, LinkListener } from '../../peer/link.ts'
import type { JsonObject } from '../../model/json.ts'
import { timerMs } from '../../model/timer.ts'
import { isRequestId, type RequestId } from '../../wire/envelope.ts'
import { createSseDecoder, type SseDecoder } from '../../wire/sse.ts'
import { capsOf } from './caps.ts'
import { closedFailure } from './closed.ts'
import { createBody } from './http-body.ts'
import { openChannel, type HttpLinkOptions } from './http-channel.ts'
import { maxErrorBytes, statusFailure } from './http-failures.ts'
import { acknowledged } from './http-notice.ts'
import { isEventStream, lowerCased, type Abandonable } from './http-room.ts'
import type { HttpListener, HttpSend, ReadHeader } from './http-types.ts'
import { readMessages, tellNoise, tooLargeFailure } from './messages.ts'
import { answeredBy, createOversizedReader } from './oversized.ts'

/** How a link over HTTP+SSE is made. */
export interface HttpSseLinkOptions extends HttpLinkOptions {
  /** Milliseconds that the server may take to say where to post; 10,000 by default. */
  readonly endpointTimeoutMs?: number
}

/**
 * A link over HTTP+SSE, the transport of the first revision ("HTTP with SSE"): everything the server says comes on one
 * stream, whose first event says where to post. An address on another origin is refused, since credentials go there.
 */
export function createHttpSseLink(url: URL, options: HttpSseLinkOptions = {}): Link {
  const caps = capsOf(options.caps)
  const headers = lowerCased(options.headers)
  const open = new Set<Abandonable>()
  /** Requests that were sent and not answered, each with the way to forget it. */
  const waiting = new Map<RequestId, () => void>()
  const oversized = createOversizedReader(onlyOne)
  let channel: HttpSend | undefined
  let listener: LinkListener | undefined
  let endpoint: URL | undefined
  let letGo = (): void => {}
  let giveUp = (_why: CallFailed): void => {}
  let closed = false
  let failure = new CallFailed('ConnectionLost', { ran: 'no', message: 'the link is not open' })

  function lose(message: string): void {
    const hearing = listener
    if (hearing === undefined) return
    listener = undefined
    failure = new CallFailed('ConnectionLost', { ran: 'no', message })
    hearing.closed(new CallFailed('ConnectionLost', { ran: 'unknown', message }))
  }

  function onlyOne(): RequestId | undefined {
    const [one] = waiting.keys()
    return waiting.size === 1 ? one : undefined
  }

  function wait(id: RequestId, signal: AbortSignal | undefined): void {
    const forget = (): void => {
      waiting.delete(id)
      signal?.removeEventListener('abort', forget)
    }
    waiting.set(id, forget)
    signal?.addEventListener('abort', forget)
  }

  function tooLarge(id: RequestId | undefined, failure = tooLargeFailure(caps)): void {
    if (id === undefined) return
    waiting.get(id)?.()
    listener?.lost(id, failure)
  }

  function hand(message: JsonObject): void {
    const { id, method } = message
    if (method === undefined && isRequestId(id)) waiting.get(id)?.()
    listener?.message(message, {})
  }

  function receive(event: string, data: string): void {
    const tooMuch = (failure: CallFailed): void => tooLarge(answeredBy(data, onlyOne), failure)
    const take = event === 'message' && readMessages(data, caps, hand, tooMuch)
    if (!take) tellNoise(listener, 'stream', data)
  }

  function decode(found: (endpoint: string) => void): SseDecoder {
    return createSseDecoder({
      maxBytes: caps.maxMessageBytes,
      onEvent({ event, data }) {
        if (event === 'endpoint' && endpoint === undefined) found(data)
        else receive(event, data)
      },
      onRetry: () => {},
      onOverflow(head) {
        tellNoise(listener, 'stream', `an event of more than ${caps.maxMessageBytes} bytes`)
        tooLarge(oversized.begins(head))
      },
      onSkipped: (tail) => tooLarge(oversized.ends(tail)),
    })
  }

  /** Opens the stream; resolves once it has said where to post. */
  function listen(send: HttpSend, hearing: LinkListener): Promise<void> {
    return new Promise((resolve, reject) => {
      const timeoutMs = options.endpointTimeoutMs ?? 10_000
      const fail = (why: CallFailed): void => {
        clearTimeout(timer)
        letGo()
        reject(why)
      }
      giveUp = fail
      const late = (): void => fail(unfit(`no address came within ${timeoutMs} ms`))
      let timer = setTimeout(late, timerMs(timeoutMs))
      const authorizing = (waiting: boolean): void => {
        clearTimeout(timer)
        if (!waiting) timer = setTimeout(late, timerMs(timeoutMs))
      }
      const found = (data: string): void => {
        const to = URL.canParse(data, url.href) ? new URL(data, url.href) : undefined
        if (to?.origin !== url.origin) return fail(unfit(`the address to post to is not on ${url.origin}`))
        clearTimeout(timer)
        endpoint = to
        listener = hearing
        resolve()
      }
      const isOpen = (): boolean => endpoint !== undefined
      const stream = { ...streamListener({ fail, lose, opened: () => decode(found), isOpen }), authorizing }
      letGo = send.send({ method: 'GET', url, headers: { ...headers, accept: 'text/event-stream' } }, stream)
    })
  }

  /** Listens to the response that is the stream. */
  function streamListener({ fail, lose, opened, isOpen }: StreamEvents): HttpListener {
    const body = createBody(maxErrorBytes)
    let refused: { readonly status: number; readonly header: ReadHeader } | undefined
    let decoder: SseDecoder | undefined
    const refuse = ({ status, header }: NonNullable<typeof refused>): void =>
      fail(refusal(statusFailure(status, header, body.take(), caps)))
    return {
      head(status, header) {
        if (status !== 200) refused = { status, header }
        else if (isEventStream(header)) decoder = opened()
        else fail(unfit('it answered with something else than a stream'))
      },
      data(chunk) {
        if (decoder !== undefined) decoder.push(chunk)
        else if (!body.add(chunk) && refused !== undefined) refuse(refused)
      },
      end() {
        if (refused !== undefined) refuse(refused)
        else if (isOpen()) lose('the server ended the stream')
        else fail(unfit('it ended the stream before it said where to post'))
      },
      fail(why) {
        if (isOpen()) lose(why.message)
        else fail(refusal(why))
      },
    }
  }

  return {
    transport: 'http+sse',
    async open(hearing) {
      channel = await openChannel(url, options, caps)
      try {
        if (closed) throw failure
        await listen(channel, hearing)
      } catch (error) {
        channel.close()
        throw error
      }
    },
    async send({ text, id, signal }) {
      if (signal?.aborted === true) return
      if (channel === undefined || endpoint === undefined || listener === undefined) throw failure
      const request = {
        method: 'POST',
        url: endpoint,
        headers: { ...headers, 'content-type': 'application/json' },
        body: text,
      } as const
      const timeoutMs = options.acknowledgeTimeoutMs ?? 30_000
      if (id !== undefined) wait(id, signal)
      const sent = acknowledged(channel, request, { caps, open, timeoutMs, seen: () => {}, ...(signal && { signal }) })
      await sent.catch((error: unknown) => {
        if (id !== undefined) waiting.get(id)?.()
        throw error
      })
    },
    agree() {},
    async close() {
      listener = undefined
      closed = true
      failure = closedFailure()
      for (const one of open) one.abandon()
      letGo()
      giveUp(failure)
      channel?.close()
    },
  }
}

interface StreamEvents {
  fail(why: CallFailed): void
  lose(message: string): void
  opened(): SseDecoder
  isOpen(): boolean
}

function unfit(message: string): CallFailed {
  return new CallFailed('Unreachable', { ran: 'no', message: `the server does not speak HTTP+SSE: ${message}` })
}

/** Opening a stream runs nothing, whatever became of it. */
function refusal({ kind, message, status, retryAfter, data, cause }: CallFailed): CallFailed {
  return new CallFailed(kind, {
    ran: 'no',
    message,
    cause,
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(data !== undefined && { data }),
  })
}
