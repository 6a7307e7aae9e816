import { timerMs } from '../../model/timer.ts'
import { CallFailed } from '../../model/failure.ts'
import type { HttpSend } from './http-types.ts'

/** Breaks off a response that has begun and of which nothing came for `idleMs`: keep-alive comments count. */
export function withIdleTimeout(inner: HttpSend, idleMs: number): HttpSend {
  return {
    close: () => inner.close(),
    send(request, listener) {
      let timer: NodeJS.Timeout | undefined
      const give = (): void => {
        abort()
        listener.fail(new CallFailed('ConnectionLost', { ran: 'unknown', message: `nothing came for ${idleMs} ms` }))
      }
      const abort = inner.send(request, {
        head(status, header) {
          timer = setTimeout(give, timerMs(idleMs))
          listener.head(status, header)
        },
        data(chunk) {
          timer?.refresh()
          listener.data(chunk)
        },
        end() {
          clearTimeout(timer)
          listener.end()
        },
        fail(failure) {
          clearTimeout(timer)
          listener.fail(failure)
        },
      })
      return () => {
        clearTimeout(timer)
        abort()
      }
    },
  }
}
