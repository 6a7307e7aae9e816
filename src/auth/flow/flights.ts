/** Lets one piece of work be under way at a time, and those share it who come for the same meanwhile. */
export interface Flights {
  /**
   * Does `work`, unless it is `done` by what was under way. Who comes for the same kind of work shares its result; a
   * failure is shared by all who waited, so that nobody is asked twice because two requests were refused at once.
   */
  join(kind: string, done: () => boolean, work: () => Promise<boolean>): Promise<boolean>
}

interface Flight {
  readonly kind: string
  readonly result: Promise<boolean>
}

/** Flights, none of them under way. */
export function createFlights(): Flights {
  const under: { way?: Flight } = {}
  return {
    async join(kind, done, work) {
      for (let flight = under.way; flight !== undefined; flight = under.way) {
        const result = await flight.result
        if (done()) return true
        if (!result && flight.kind === kind) return false
      }
      const result = work().finally(() => delete under.way)
      under.way = { kind, result }
      return result
    },
  }
}
