import type { Clock, Logger } from '../model/ports.ts'
import type { Store } from '../model/store.ts'

/** What finished records are watched with. */
export interface ClaimWatchOptions {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly maxClaims: number
}

/** Watches whether finished records are kept for as long as they should be. No store tells what it let go of. */
export interface ClaimWatch {
  /** Whether it is time to take one more sample and to look. */
  isDue(): boolean
  /** Takes a finished record as a sample, and looks after those before it. Never throws. */
  take(key: string, keepMs: number): void
}

interface Sample {
  readonly key: string
  readonly at: number
  readonly expiresAt: number
}

/** A record a minute stands for all, and a minute lies between two warnings. Milliseconds. */
const everyMs = 60_000
/** More than those of a day need not be kept. */
const maxSamples = 1_500

/** Watches by samples: of finished records the oldest give way first, so the oldest sample tells of all. */
export function createClaimWatch({ store, clock, logger, maxClaims }: ClaimWatchOptions): ClaimWatch {
  let samples: readonly Sample[] = []
  let due = 0
  let looking = false

  async function look(now: number): Promise<void> {
    // Those that expire now are no measure: clocks differ a little.
    const wanted = samples.filter(({ expiresAt }) => expiresAt > now + everyMs)
    const gone = await countGone(wanted)
    samples = wanted.slice(gone)
    const youngest = wanted[gone - 1]
    if (youngest === undefined) return
    logger.warn('finished calls are forgotten before their time: raise maxClaims, or what the store holds', {
      maxClaims,
      goneAfterMs: now - youngest.at,
    })
  }

  /** How many are gone, the oldest first. */
  async function countGone(wanted: readonly Sample[]): Promise<number> {
    let gone = 0
    let kept = wanted.length
    for (let next = 0; gone < kept; next = Math.floor((gone + kept) / 2)) {
      const sample = wanted[next]
      if (sample !== undefined && (await store.get(sample.key)) === undefined) gone = next + 1
      else kept = next
    }
    return gone
  }

  return {
    isDue: () => clock() >= due,
    take(key, keepMs) {
      const now = clock()
      if (now < due || looking) return
      due = now + everyMs
      looking = true
      look(now)
        .catch((error: unknown) => logger.debug('finished calls could not be looked after', { error }))
        .finally(() => {
          if (samples.length < maxSamples) samples = [...samples, { key, at: now, expiresAt: now + keepMs }]
          looking = false
        })
    },
  }
}
