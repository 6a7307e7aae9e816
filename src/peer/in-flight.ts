import type { RequestId } from '../wire/envelope.ts'
import type { Exchange, InFlight } from './peer.ts'

interface Entry {
  readonly id: RequestId
  readonly exchange: Exchange
}

/** So many are looked through sooner than a map would tell. */
const few = 8

/** A few in a row, and only more than those in a map, which makes itself a new table whenever it gets empty. */
export function createInFlight(): InFlight {
  const row: Entry[] = []
  const others = new Map<RequestId, Exchange>()

  const placeOf = (id: RequestId): number => row.findIndex((entry) => entry.id === id)

  return {
    get size() {
      return row.length + others.size
    },
    get: (id) => row.find((entry) => entry.id === id)?.exchange ?? others.get(id),
    add(id, exchange) {
      if (row.length < few) row.push({ id, exchange })
      else others.set(id, exchange)
    },
    delete(id) {
      const at = placeOf(id)
      if (at < 0) return void others.delete(id)
      const last = row.pop()
      if (last !== undefined && at < row.length) row[at] = last
    },
    all: () => [...row.map(({ exchange }) => exchange), ...others.values()],
  }
}
