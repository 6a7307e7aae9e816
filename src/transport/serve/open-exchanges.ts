import type { Answer, Exchange } from '../../peer/peer.ts'
import type { RequestId } from '../../wire/envelope.ts'

/** What ends and keeps alive the response to an exchange. */
export interface OpenResponse {
  finish(answer: Answer | undefined): void
  keepAlive(): void
}

/** A response that is kept alive without belonging to one exchange. */
export type Quiet = Pick<OpenResponse, 'keepAlive'>

/** The exchanges of one endpoint whose answers are still to come. */
export interface OpenExchanges {
  /** Finishes `response` with the exchange's answer to the request `id`, and keeps it alive until then. */
  add(id: RequestId, exchange: Exchange, response: OpenResponse): void
  /** Keeps `stream` alive. @returns the way to stop */
  watch(stream: Quiet): () => void
  /** Ends what has no end of its own, waits at most `graceMs` for the rest, then gives up on it. */
  drain(graceMs: number): Promise<void>
}

/**
 * One timer for all of them, running only while there are any.
 * @param giveUp the answer to a request that takes longer than a drain may
 */
export function createOpenExchanges(keepAliveMs: number, giveUp: (id: RequestId) => Answer): OpenExchanges {
  const exchanges = new Map<Exchange, { readonly id: RequestId; readonly response: OpenResponse }>()
  const quiet = new Set<Quiet>()
  // Whatever is open for a whole round of the timer is told that somebody is there.
  const fresh = new Set<Quiet>()
  let timer: ReturnType<typeof setInterval> | undefined
  let emptied: (() => void) | undefined

  function sweep(): void {
    for (const response of quiet) if (!fresh.has(response)) response.keepAlive()
    fresh.clear()
    if (quiet.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  function watch(response: Quiet): () => void {
    quiet.add(response)
    fresh.add(response)
    if (timer === undefined) {
      timer = setInterval(sweep, keepAliveMs)
      timer.unref?.()
    }
    return () => {
      quiet.delete(response)
      fresh.delete(response)
    }
  }

  return {
    add(id, exchange, response) {
      exchanges.set(exchange, { id, response })
      const stop = watch(response)
      void exchange.answer.then((answer) => {
        exchanges.delete(exchange)
        stop()
        response.finish(answer)
        if (exchanges.size === 0) emptied?.()
      })
    },
    watch,
    async drain(graceMs) {
      for (const exchange of exchanges.keys()) exchange.end?.()
      if (exchanges.size > 0) {
        await new Promise<void>((resolve) => {
          const limit = setTimeout(resolve, graceMs)
          emptied = () => {
            clearTimeout(limit)
            resolve()
          }
        })
      }
      for (const [exchange, { id, response }] of exchanges) {
        response.finish(giveUp(id))
        exchange.cancel('the server is closing')
      }
      clearInterval(timer)
      timer = undefined
    },
  }
}
