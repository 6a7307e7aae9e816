import { CallFailed } from '../../model/failure.ts'
import { timerMs } from '../../model/timer.ts'
import type { Outgoing } from '../../peer/link.ts'
import { createBody } from './http-body.ts'
import { maxErrorBytes, statusFailure } from './http-failures.ts'
import { isEventStream, type Abandonable, type HttpRoom } from './http-room.ts'
import type { HttpRequest, HttpSend, ReadHeader } from './http-types.ts'

/**
 * Posts a message that is never answered: a notification, or an answer to the server. Resolves once it is acknowledged.
 * @throws CallFailed where it is refused, or not acknowledged in time
 */
export function postNotice(room: HttpRoom, { text, headers, signal }: Outgoing): Promise<void> {
  const request = room.request('POST', headers ?? {}, text)
  return acknowledged(room.send, request, {
    caps: room.caps,
    timeoutMs: room.acknowledgeTimeoutMs,
    seen: room.seen,
    open: room.open,
    ...(signal !== undefined && { signal }),
  })
}

/** How an acknowledgement is waited for. */
export interface AcknowledgeOptions extends Pick<HttpRoom, 'caps' | 'open'> {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  seen(status: number, header: ReadHeader): void
}

/** Sends a request whose response says nothing but that it came. Resolves quietly when it is abandoned. */
export function acknowledged(
  send: HttpSend,
  request: HttpRequest,
  { caps, timeoutMs, signal, seen, open }: AcknowledgeOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = createBody(maxErrorBytes)
    let refused: { readonly status: number; readonly header: ReadHeader } | undefined
    const settle = (failure?: CallFailed): void => {
      clearTimeout(timer)
      open.delete(self)
      signal?.removeEventListener('abort', abandon)
      if (failure === undefined) resolve()
      else reject(failure)
    }
    const end = (): void => settle(refused && statusFailure(refused.status, refused.header, body.take(), caps))
    const stop = (failure?: CallFailed): void => {
      abort()
      settle(failure)
    }
    const abandon = (): void => stop()
    const self: Abandonable = { abandon }
    const late = (): void => {
      const message = `the server acknowledged nothing within ${timeoutMs} ms`
      stop(new CallFailed('TimedOut', { ran: 'unknown', message }))
    }
    let timer = setTimeout(late, timerMs(timeoutMs))
    open.add(self)
    signal?.addEventListener('abort', abandon)
    const abort = send.send(request, {
      head(status, header) {
        seen(status, header)
        if (status < 200 || status >= 300) refused = { status, header }
        // Some answer what has no answer with a stream, which need not end.
        else if (isEventStream(header)) stop()
      },
      data(chunk) {
        if (body.add(chunk)) return
        abort()
        end()
      },
      end,
      authorizing(waiting) {
        clearTimeout(timer)
        if (!waiting) timer = setTimeout(late, timerMs(timeoutMs))
      },
      fail: (failure) => (refused === undefined ? settle(failure) : end()),
    })
  })
}
