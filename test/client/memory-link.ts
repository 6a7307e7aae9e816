import type { ConnectOptions } from '../../src/memory.ts'
import { connectInMemory } from '../../src/memory.ts'
import { CallFailed } from '../../src/model/failure.ts'
import { isObject, type JsonObject } from '../../src/model/json.ts'
import type { Served } from '../../src/model/served.ts'
import type { Link, LinkListener, Received, Target } from '../../src/peer/link.ts'

/** What went over a link, in order: `>` to the server, `<` to the client. */
export type Crossing = readonly ['>' | '<', JsonObject]

/** A target in memory that a test looks into and breaks. */
export interface MemoryTarget extends Target {
  /** Everything that crossed, on all links. */
  readonly crossed: Crossing[]
  /** Methods of the requests and notifications that the client sent, in order. */
  sent(): string[]
  /** How many links were opened. */
  readonly links: number
  /** Ends the newest link by itself. */
  drop(failure?: CallFailed): void
  /** Says that the session of the newest link is gone. */
  expire(): void
  /** The server says something unasked. */
  say(message: JsonObject): void
  /** Refuses a request, with what HTTP said of it. */
  answer(id: number | undefined, error: JsonObject, received: Received): void
  /** Stands between: what it returns crosses in place of the message; nothing crosses for `undefined`. */
  alter: (message: JsonObject, way: '>' | '<') => JsonObject | undefined
}

let targets = 0

/** A target behind which `served` is, in memory. */
export function memoryTarget(
  served: Served,
  options: ConnectOptions & { readonly context?: string; readonly key?: string } = {},
): MemoryTarget {
  const crossed: Crossing[] = []
  let newest: { listener: LinkListener | undefined; close: () => Promise<void> } | undefined
  let links = 0
  const target: MemoryTarget = {
    key: options.key ?? `memory:${++targets}`,
    transports: ['memory'],
    ...(options.context !== undefined && { context: options.context }),
    crossed,
    sent: () =>
      crossed
        .filter(([way, { method }]) => way === '>' && method !== undefined)
        .map(([, { method }]) => String(method)),
    get links() {
      return links
    },
    drop: (failure = new CallFailed('ConnectionLost', { ran: 'unknown' })) => {
      const { listener, close } = newest ?? {}
      if (newest) newest.listener = undefined
      listener?.closed(failure)
      void close?.()
    },
    expire: () => newest?.listener?.expired?.(),
    say: (message) => newest?.listener?.message({ jsonrpc: '2.0', ...message }, {}),
    answer(id, error, received) {
      const named = id === undefined ? {} : { id }
      newest?.listener?.message(
        { jsonrpc: '2.0', ...named, error },
        { ...(id !== undefined && { on: id }), ...received },
      )
    },
    alter: (message) => message,
    link: () => createLink(),
  }

  function createLink(): Link {
    const memory = connectInMemory(served, { graceMs: 0, ...options })
    const state: { listener: LinkListener | undefined; close: () => Promise<void> } = {
      listener: undefined,
      close: () => memory.close(),
    }
    return {
      transport: 'memory',
      async open(listener) {
        links += 1
        state.listener = listener
        newest = state
        memory.onMessage((text) => {
          const parsed: unknown = JSON.parse(text)
          for (const message of Array.isArray(parsed) ? (parsed as unknown[]) : [parsed]) {
            if (!isObject(message)) continue
            const altered = target.alter(message, '<')
            if (!altered) continue
            crossed.push(['<', altered])
            state.listener?.message(altered, {})
          }
        })
      },
      async send({ text }) {
        if (!state.listener) throw new CallFailed('ConnectionLost', { ran: 'no' })
        const message = JSON.parse(text) as JsonObject
        const altered = target.alter(message, '>')
        crossed.push(['>', message])
        if (altered) memory.send(altered)
      },
      agree: () => {},
      close: async () => {
        state.listener = undefined
        // The door's own patience holds no process.
        const hold = setTimeout(() => {}, 5_000)
        await memory.close()
        clearTimeout(hold)
      },
    }
  }
  return target
}
