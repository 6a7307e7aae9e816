// What a call costs that runs at most once, over one that may run again, by store; and what idle sessions cost. Each in a
// process of its own.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redisMissing, startRedis } from '../tools/redis-server.ts'
import { childPath } from './child.ts'
import type { Effort } from './effort.ts'
import type { Budget, Row } from './rows.ts'
import { median } from './stats.ts'

const calls = 2_000
/** Rounds until all code is compiled. */
const warmUps = 6
const sessions = 10_000
/** The most round trips that a claimed call may wait for before it runs. */
const maxTrips = 1

type Kind = 'memory' | 'sqlite' | 'redis'

interface Case {
  readonly name: string
  readonly kind: Kind
  readonly inFlight: number
  /** Microseconds; without one there is nothing to compare with: two transactions alone cost what they cost. */
  readonly budget?: number
}

const cases: readonly Case[] = [
  { name: 'claims / memory, 1 in flight / CPU', kind: 'memory', inFlight: 1, budget: 10 },
  { name: 'claims / SQLite, 32 in flight / CPU', kind: 'sqlite', inFlight: 32, budget: 60 },
  { name: 'claims / SQLite, 1 in flight / CPU', kind: 'sqlite', inFlight: 1 },
  { name: 'claims / Redis, 32 in flight / CPU', kind: 'redis', inFlight: 32, budget: 150 },
]
const tripsName = 'claims / round trips before the call runs'
const sessionsName = `sessions / ${sessions} idle / memory`

interface Finding {
  /** Microseconds of CPU per call, by round. */
  readonly plain: readonly number[]
  readonly claimed: readonly number[]
  readonly trips: number
}

/** Measures all that `wanted` lets through, and calls `found` with the row of each case. */
export async function benchOnce(
  effort: Effort,
  wanted: (name: string) => boolean,
  found: (rows: readonly Row[]) => void,
): Promise<void> {
  for (const one of cases.filter(({ name, kind }) => wanted(name) || (kind === 'redis' && wanted(tripsName)))) {
    const finding = await withStore(one.kind, (store) => measure(one, store, effort))
    if (finding !== undefined) found(rowsOf(one, finding).filter(({ name }) => wanted(name)))
  }
  if (!wanted(sessionsName)) return
  const { kib } = await ask<{ kib: number }>('idle-sessions', String(sessions), ['--expose-gc'])
  const budget = { of: 'difference', bound: 'at most', value: 1024 } as const
  found([{ name: sessionsName, unit: 'KiB', measured: kib, baseline: 0, ratio: 0, budget }])
}

function rowsOf({ name, kind, budget }: Case, { plain, claimed, trips }: Finding): readonly Row[] {
  const [measured, baseline] = [median(claimed), median(plain)]
  const held: { budget?: Budget } =
    budget === undefined ? {} : { budget: { of: 'difference', bound: 'at most', value: budget } }
  const cpu = { name, unit: 'µs/call', measured, baseline, ratio: measured / baseline, ...held }
  if (kind !== 'redis') return [cpu]
  const most = { of: 'difference', bound: 'at most', value: maxTrips } as const
  return [cpu, { name: tripsName, unit: '', measured: trips, baseline: 0, ratio: trips, budget: most }]
}

function measure({ inFlight }: Case, store: object, { rounds }: Effort): Promise<Finding> {
  const what = { store, inFlight, calls, rounds, warmUps }
  return ask<Finding>('claims', JSON.stringify(what))
}

/** Does `work` with a fresh store. `undefined`, told loudly, where this machine has none of the kind. */
async function withStore<T>(kind: Kind, work: (store: object) => Promise<T>): Promise<T | undefined> {
  if (kind === 'memory') return work({ kind })
  if (kind === 'sqlite') return withFolder((folder) => work({ kind, path: join(folder, 'once.db') }))
  const missing = redisMissing()
  if (missing !== undefined) return void console.error(`\n*** NOT MEASURED on Redis: ${missing} ***\n`)
  const server = await startRedis()
  try {
    return await work({ kind, url: server.url })
  } finally {
    await server.stop()
  }
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-once-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts children/`name`.mjs and waits for what it found. @throws if it ends without */
async function ask<T>(name: string, what: string, execArgv: readonly string[] = []): Promise<T> {
  const child = fork(childPath(name), [what], { execArgv: [...execArgv] })
  let finding: T | undefined
  child.on('message', (message) => (finding = message as T))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0 || finding === undefined) throw new Error(`The benchmark ${name} ended with ${code}`)
  return finding
}
