import type { JsonObject } from '../../src/model/json.ts'
import type { Logger, Seal } from '../../src/model/ports.ts'
import type { LogEntry, Store } from '../../src/model/store.ts'
import { StoreUnavailable } from '../../src/model/store-unavailable.ts'

/** A clock that tests move by hand. */
export function handClock(): { (): number; now: number } {
  const clock = Object.assign(() => clock.now, { now: 1_000_000 })
  return clock
}

/** A seal that hides nothing, but tells altered text, purpose and age. */
export function glassSeal(clock: () => number): Seal {
  const mark = (text: string): string => String([...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1e9, 7))
  let count = 0
  return {
    seal(purpose, value, expiresAt) {
      const body = Buffer.from(JSON.stringify({ purpose, value, expiresAt, count: (count += 1) })).toString('base64url')
      return `${body}.${mark(body)}`
    },
    open(purpose, text) {
      const [body = '', signature] = text.split('.')
      if (mark(body) !== signature) return undefined
      const read: { purpose: string; value: JsonObject; expiresAt: number } = JSON.parse(
        Buffer.from(body, 'base64url').toString(),
      )
      if (read.purpose !== purpose) return undefined
      return read.expiresAt <= clock() ? 'expired' : read.value
    },
  }
}

/** The logs of a store and nothing else. */
export function logStore(): Store & { failNext: boolean; readonly logs: Map<string, LogEntry[]> } {
  const logs = new Map<string, LogEntry[]>()
  const absent = (): never => {
    throw new Error('this store only keeps logs')
  }
  const store = {
    durable: false,
    failNext: false,
    logs,
    get: absent,
    put: absent,
    delete: absent,
    list: absent,
    publish: absent,
    subscribe: absent,
    close: async () => {},
    async append(name: string, value: string, { maxEntries }: { maxEntries: number }) {
      await Promise.resolve()
      if (store.failNext) {
        store.failNext = false
        throw new Error('unreachable')
      }
      const log = logs.get(name) ?? []
      const sequence = (log.at(-1)?.sequence ?? 0) + 1
      logs.set(name, [...log, { sequence, value }].slice(-maxEntries))
      return sequence
    },
    async read(name: string, after: number) {
      const log = logs.get(name) ?? []
      return { entries: log.filter((entry) => entry.sequence > after), evictedThrough: (log[0]?.sequence ?? 1) - 1 }
    },
  }
  return store
}

/** A store that can be away: before what is asked of it has happened, or after. */
export function flakyStore(inner: Store): { readonly store: Store; away: 'before' | 'after' | undefined } {
  const flaky: { store: Store; away: 'before' | 'after' | undefined } = { store: inner, away: undefined }
  const through =
    <Args extends readonly unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (flaky.away === 'before') throw new StoreUnavailable('away', { attempted: 'no' })
      const result = await method(...args)
      if (flaky.away === 'after') throw new StoreUnavailable('away', { attempted: 'unknown' })
      return result
    }
  flaky.store = {
    durable: inner.durable,
    get: through(inner.get),
    put: through(inner.put),
    delete: through(inner.delete),
    list: through(inner.list),
    append: through(inner.append),
    read: through(inner.read),
    publish: through(inner.publish),
    subscribe: through(inner.subscribe),
    close: inner.close,
  }
  return flaky
}

/** Every message that a logger is told, by its level. */
export function recorder(): {
  readonly logger: Logger
  at(level: keyof Logger): readonly { readonly level: string; readonly message: string }[]
} {
  const lines: { level: string; message: string }[] = []
  const at = (level: keyof Logger) => (message: string) => void lines.push({ level, message })
  return {
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    at: (level) => lines.filter((line) => line.level === level),
  }
}
