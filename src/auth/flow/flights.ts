import { untilAborted } from './redirect.ts'

/** Lets one piece of work be under way at a time, and those share it who come for the same meanwhile. */
export interface Flights {
  /**
   * Does `work`, unless it is `done` by what was under way. Who comes for the same kind of work shares its result; a
   * failure is shared by all who waited, so that nobody is asked twice because two requests were refused at once. Who has
   * a `signal` leaves when it is aborted, and is rejected with its reason; once all have left, the signal of the work is.
   */
  join(
    kind: string,
    done: () => boolean,
    work: (signal: AbortSignal) => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<boolean>
}

interface Flight {
  readonly kind: string
  readonly result: Promise<boolean>
  readonly stop: AbortController
  waiting: number
}

/** Flights, none of them under way. */
export function createFlights(): Flights {
  const under: { way?: Flight } = {}
  return {
    async join(kind, done, work, signal) {
      for (let flight = under.way; flight !== undefined; flight = under.way) {
        if (flight.stop.signal.aborted) {
          // What nobody waited for fails for nobody else.
          const end = flight.result.catch(() => false)
          await (signal ? untilAborted(end, signal) : end)
          continue
        }
        const result = await aboard(flight, signal)
        if (done()) return true
        if (!result && flight.kind === kind) return false
      }
      const stop = new AbortController()
      const result = work(stop.signal).finally(() => delete under.way)
      under.way = { kind, result, stop, waiting: 0 }
      return aboard(under.way, signal)
    },
  }
}

/** Waits for what a flight comes to. Whoever has no signal stays to the end. */
async function aboard(flight: Flight, signal: AbortSignal | undefined): Promise<boolean> {
  flight.waiting += 1
  if (!signal) return flight.result
  const leave = (): void => {
    flight.waiting -= 1
    if (flight.waiting === 0) flight.stop.abort(signal.reason)
  }
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  try {
    return await untilAborted(flight.result, signal)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
