import type { Clock, Logger, Random, Seal } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import type { Store } from '../model/store.ts'
import { createSeal, randomKey } from '../seal/seal.ts'

/** What a seal whose keys are in the store is made of. */
export interface StoredSealOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Where the ring is kept: one for all who share the store. */
const name = 'keys/ring'
/** Milliseconds between two attempts to get the keys, while the store is away. */
const everyMs = 1_000

/**
 * The keys that the store has, the newest first. Where it has none, one is made: of all who try at once, one makes it.
 * @throws StoreUnavailable
 */
export async function loadKeys({
  store,
  random,
}: Pick<StoredSealOptions, 'store' | 'random'>): Promise<readonly Uint8Array[]> {
  for (;;) {
    const found = await store.get(name)
    if (found !== undefined) return readRing(found.value)
    const key = randomKey(random)
    const ring = JSON.stringify([Buffer.from(key).toString('base64url')])
    if ((await store.put(name, ring, { ifVersion: 0 })) !== undefined) return [Uint8Array.from(key)]
  }
}

/** Written by this module, so it is a list of texts. */
function readRing(text: string): readonly Uint8Array[] {
  return (JSON.parse(text) as string[]).map((key) => Uint8Array.from(Buffer.from(key, 'base64url')))
}

/**
 * A seal with the keys of the store, so that all who share it, and whoever comes after a restart, open what any of them
 * has sealed. It has to load: until then, sealing and opening throw the refusal `Overloaded`.
 */
export function createStoredSeal(options: StoredSealOptions): Seal {
  const { clock, random, logger } = options
  let seal: Seal | undefined
  let loading: Promise<void> | undefined
  let failedAt = Infinity

  async function load(): Promise<void> {
    try {
      seal = createSeal({ keys: await loadKeys(options), clock, random })
    } catch (error) {
      failedAt = performance.now()
      logger.error('the keys could not be had from the store', { error })
      throw error
    }
  }

  function loaded(): Seal {
    if (seal === undefined) throw new Refusal('Overloaded', { retryAfter: 1 })
    return seal
  }

  return {
    get loading() {
      if (seal !== undefined) return undefined
      if (loading === undefined || performance.now() >= failedAt + everyMs) {
        failedAt = Infinity
        loading = load()
      }
      return loading
    },
    seal: (purpose, value, expiresAt) => loaded().seal(purpose, value, expiresAt),
    open: (purpose, text) => loaded().open(purpose, text),
  }
}
