import type { Logger } from '../model/ports.ts'
import type { Transport } from '../peer/calling.ts'

/** What was found out about a server, worth remembering until it stops being true. */
export interface Verdict {
  /** Whether requests stand alone, or a handshake comes first. */
  readonly lifecycle: 'request' | 'session'
  readonly revision: string
  readonly transport: Transport
  /** The server does not survive a request before its handshake. */
  readonly dies?: true
  /** When it was found out last, in milliseconds since the epoch. */
  readonly at: number
}

/** Where verdicts are remembered, by the target's key. Persist them to spare the next process the probe. */
export interface Verdicts {
  get(key: string): Verdict | undefined | Promise<Verdict | undefined>
  set(key: string, verdict: Verdict): void | Promise<void>
}

const defaultTtlMs = 3_600_000

/**
 * The verdict, if it is to be gone by. A server may be replaced by a newer one that still serves what the one before did, so
 * that nothing ever contradicts the verdict that it is old: that is doubted after `ttlMs`.
 */
export function believed(verdict: Verdict | undefined, now: number, ttlMs: number = defaultTtlMs): Verdict | undefined {
  if (verdict?.lifecycle === 'session' && !(Math.abs(now - verdict.at) < ttlMs)) return undefined
  return verdict
}

/** `verdicts` that never reject: what a store failed to tell is found out anew. */
export function forgiving(verdicts: Verdicts, logger: Logger): Verdicts {
  const safely = async <T>(run: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await run()
    } catch (error) {
      logger.warn('the store of verdicts failed', { error })
      return undefined
    }
  }
  return {
    get: (key) => safely(() => verdicts.get(key)),
    set: (key, verdict) => safely(() => verdicts.set(key, verdict)),
  }
}

const maxVerdicts = 1_000

/** Verdicts in this process's memory, the oldest of more than 1,000 forgotten. */
export function memoryVerdicts(): Verdicts {
  const known = new Map<string, Verdict>()
  return {
    get: (key) => known.get(key),
    set(key, verdict) {
      known.delete(key)
      known.set(key, verdict)
      const [oldest] = known.keys()
      if (known.size > maxVerdicts && oldest !== undefined) known.delete(oldest)
    },
  }
}
