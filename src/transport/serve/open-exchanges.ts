import { createBag, nowhere, type Placed } from '../../model/bag.ts'
import { Refusal } from '../../model/refusal.ts'
import { timerMs } from '../../model/timer.ts'
import type { Answer, Exchange } from '../../peer/peer.ts'

/** A response that is kept alive without belonging to one exchange. */
export interface Quiet {
  keepAlive(): void
}

/** What ends and keeps alive the response to an exchange. */
export interface OpenResponse extends Quiet {
  finish(answer: Answer | undefined): void
}

/** The exchanges of one endpoint whose answers are still to come. */
export interface OpenExchanges {
  /**
   * Whether as many responses are open as may be, of exchanges and streams: nothing new begins, but what ends something
   * that runs is taken in. @param apart how many of them are those of whoever asks
   */
  isFull(apart?: number): boolean
  /** Whether it was drained, or is being: what is not under way yet is refused, since nobody would wait for it. */
  readonly closing: boolean
  /** Finishes `response` with the exchange's answer, and keeps it alive until then. */
  add(exchange: Exchange, response: OpenResponse): void
  /** Keeps `stream` alive. @returns the way to stop */
  watch(stream: Quiet): () => void
  /** Ends what has no end of its own, waits at most `graceMs` for the rest, then gives up on it. */
  drain(graceMs: number): Promise<void>
}

interface Watched {
  readonly stream: Quiet
  /** The round of the timer in which it was opened: it is left alone until that is over. */
  readonly since: number
}

interface Running extends Watched, Placed {
  readonly exchange: Exchange
  readonly stream: OpenResponse
}

/** One timer for all of them, running only while there are any. @param maxOpen the cap on them */
export function createOpenExchanges(keepAliveMs: number, maxOpen: number): OpenExchanges {
  const exchanges = createBag<Running>()
  const streams = new Set<Watched>()
  let closing = false
  let round = 0
  let timer: ReturnType<typeof setInterval> | undefined
  let emptied = (): void => {}

  function sweep(): void {
    for (const { since, stream } of [...exchanges.all(), ...streams]) if (since < round) stream.keepAlive()
    round += 1
    if (exchanges.size + streams.size === 0) stopTimer()
  }
  function startTimer(): void {
    if (timer !== undefined) return
    timer = setInterval(sweep, timerMs(keepAliveMs))
    timer.unref?.()
  }
  function stopTimer(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    isFull: (apart = 0) => exchanges.size + streams.size - apart >= maxOpen,
    get closing() {
      return closing
    },
    add(exchange, stream) {
      const running: Running = { since: round, exchange, stream, place: nowhere }
      exchanges.add(running)
      startTimer()
      void exchange.answer.then((answer) => {
        exchanges.remove(running)
        stream.finish(answer)
        if (exchanges.size === 0) emptied()
      })
    },
    watch(stream) {
      const watched: Watched = { since: round, stream }
      streams.add(watched)
      startTimer()
      return () => void streams.delete(watched)
    },
    async drain(graceMs) {
      closing = true
      for (const { exchange } of exchanges.all()) exchange.end?.()
      if (exchanges.size > 0) {
        await new Promise<void>((resolve) => {
          const limit = setTimeout(resolve, timerMs(graceMs))
          emptied = () => {
            clearTimeout(limit)
            resolve()
          }
        })
      }
      // They ran, so nobody may be led to believe that they did not. What they asked is taken back.
      for (const { exchange } of exchanges.all()) exchange.stop(new Refusal('OutcomeUnknown'))
      await Promise.all(exchanges.all().map(({ exchange }) => exchange.answer))
      stopTimer()
    },
  }
}
