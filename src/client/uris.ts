import type { Caller } from '../peer/calling.ts'

/** The resources that sessions are subscribed to: each once, however many subscriptions of the client want it. */
export interface Uris {
  /** @throws Refusal, CallFailed */
  add(uri: string, caller: Caller): Promise<void>
  /** Never rejects: a session that is gone has forgotten by itself. */
  remove(uri: string, caller: Caller): Promise<void>
}

/** Milliseconds. */
const timeoutMs = 30_000

/** Makes the register of one client. */
export function createUris(): Uris {
  const wanted = new WeakMap<Caller, Map<string, number>>()
  const ask = (method: string, uri: string, caller: Caller): Promise<unknown> =>
    caller.call({ method, params: { uri }, timeoutMs })
  return {
    async add(uri, caller) {
      const counts = wanted.get(caller) ?? new Map<string, number>()
      wanted.set(caller, counts)
      const before = counts.get(uri) ?? 0
      counts.set(uri, before + 1)
      if (before === 0) await ask('resources/subscribe', uri, caller)
    },
    async remove(uri, caller) {
      const counts = wanted.get(caller)
      const before = counts?.get(uri) ?? 0
      if (before > 1) counts?.set(uri, before - 1)
      else if (counts?.delete(uri)) await ask('resources/unsubscribe', uri, caller).catch(() => {})
    },
  }
}
