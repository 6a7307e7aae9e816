import { isFailure } from '../model/failure.ts'
import type { Caller } from '../peer/calling.ts'
import { within } from './patience.ts'

/** The resources that sessions are subscribed to: each once, however many subscriptions of the client want it. */
export interface Uris {
  hold(uri: string, caller: Caller): HeldUri
}

/** One subscription's part in a resource. */
export interface HeldUri {
  /** Resolves once the session is subscribed; for all who want the resource alike. @throws Refusal, CallFailed */
  readonly ready: Promise<void>
  /**
   * Wants it no more; the last who does so has the session told. Never rejects, and waits but a moment for the answer: a session
   * that is gone has forgotten by itself.
   */
  release(): Promise<void>
}

/** Milliseconds. */
const timeoutMs = 30_000
const momentMs = 1_000

interface Entry {
  readonly ready: Promise<void>
  count: number
  /** The session is not subscribed by this. */
  refused: boolean
}

/** Makes the register of one client. */
export function createUris(): Uris {
  const entries = new WeakMap<Caller, Map<string, Entry>>()

  function ask(method: string, uri: string, caller: Caller): Promise<void> {
    return caller.call({ method, params: { uri }, timeoutMs }).then(() => {})
  }

  function enter(uri: string, caller: Caller, all: Map<string, Entry>): Entry {
    const entry: Entry = { ready: ask('resources/subscribe', uri, caller), count: 0, refused: false }
    all.set(uri, entry)
    entry.ready.catch((error: unknown) => {
      entry.refused = isFailure(error) && error.ran === 'no'
      // Whoever wants it after that asks anew.
      if (all.get(uri) === entry) all.delete(uri)
    })
    return entry
  }

  return {
    hold(uri, caller) {
      const all = entries.get(caller) ?? new Map<string, Entry>()
      entries.set(caller, all)
      const entry = all.get(uri) ?? enter(uri, caller, all)
      entry.count += 1
      return {
        ready: entry.ready,
        async release() {
          entry.count -= 1
          const isAnothers = (all.get(uri) ?? entry) !== entry
          if (entry.count > 0 || entry.refused || isAnothers) return
          all.delete(uri)
          const told = ask('resources/unsubscribe', uri, caller)
          await within(told, { timeoutMs: momentMs }, 'The answer took too long').catch(() => {})
        },
      }
    },
  }
}
