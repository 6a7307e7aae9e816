// One of several processes that want the same at once. Started by races.ts, with the store as JSON; tells what it won.
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../src/model/store.ts'

/** A store that another process can open too. */
export type StoreSpec =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly driver: 'ioredis' | 'redis'; readonly prefix: string }
  | { readonly kind: 'postgres'; readonly connectionString: string; readonly schema: string }

/** What a racer is told. */
export interface Race {
  readonly spec: StoreSpec
  readonly racer: number
  /** How often it has to win each thing. */
  readonly rounds: number
}

/** What a racer tells at the end. */
export interface Raced {
  /** The versions that it wrote of the one counter. */
  readonly versions: readonly number[]
  /** The entries that it appended to the one log. */
  readonly sequences: readonly number[]
  /** The keys that it was the first to put. */
  readonly firsts: readonly number[]
  /** The messages of all racers that it heard, in order. */
  readonly heard: readonly string[]
}

/** Opens the store that `spec` means. */
export async function openSpec(spec: StoreSpec): Promise<Store> {
  if (spec.kind === 'sqlite') return (await import('../../src/store/sqlite.ts')).sqlite({ path: spec.path })
  const timeoutMs = 10_000
  if (spec.kind === 'redis') return (await import('../../src/store/redis.ts')).redis({ ...spec, timeoutMs })
  return (await import('../../src/store/postgres.ts')).postgres({ ...spec, timeoutMs, migrate: true })
}

async function race({ spec, racer, rounds }: Race): Promise<Raced> {
  const store = await openSpec(spec)
  const heard: string[] = []
  await store.subscribe('race', (message) => heard.push(message))
  await store.get('connect')
  await started()
  const options = { maxEntries: 1_000_000, expiresAt: Date.now() + 600_000 }
  const versions: number[] = []
  const sequences: number[] = []
  const firsts: number[] = []
  for (let round = 0; round < rounds; round++) {
    const work = [count(store), store.append('race', `${racer}:${round}`, options)] as const
    const first = store.put(`first/${round}`, String(racer), { ifVersion: 0, maxInGroup: 10_000 })
    await store.publish('race', `${racer}:${round}`)
    versions.push(await work[0])
    sequences.push(await work[1])
    if ((await first) !== undefined) firsts.push(round)
  }
  await store.publish('race', 'end')
  for (const last = Date.now() + 20_000; heard.filter((text) => text === 'end').length < 3 && Date.now() < last;) {
    await delay(20)
  }
  await store.close()
  return { versions, sequences, firsts, heard }
}

/** Adds one to the counter. @returns the version that did it */
async function count(store: Store): Promise<number> {
  for (;;) {
    const found = await store.get('counter')
    const next = String(Number(found?.value ?? 0) + 1)
    const version = await store.put('counter', next, { ifVersion: found?.version ?? 0 })
    if (version !== undefined) return version
  }
}

function started(): Promise<void> {
  process.send?.('ready')
  return new Promise((resolve) => process.once('message', () => resolve()))
}

if (process.send !== undefined && process.argv[2] !== undefined) {
  const raced = await race(JSON.parse(process.argv[2]) as Race) // as races.ts wrote it
  process.send(raced, () => process.disconnect())
}
