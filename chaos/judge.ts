// Compares what the world says was done with what the clients were told.
import type { Told } from './clients.ts'
import type { World } from './world.ts'

/** What was done to the processes, and seen by the clients, beside their calls. */
export interface Circumstances {
  /** Processes that ended, planned deaths among them. */
  readonly kills: number
  readonly planned: number
  readonly dropped: number
  readonly outages: number
  readonly sessionsLost: number
  readonly eventsLost: number
  readonly resumed: number
  readonly stale: number
  readonly seconds: number
}

/** The counts of one arena. */
export interface Counts extends Circumstances {
  readonly arena: string
  readonly calls: number
  /** Times that calls were sent, first and again. */
  readonly sent: number
  readonly done: number
  readonly unknown: number
  readonly replayed: number
  readonly effects: number
  readonly faults: readonly string[]
}

const effectsOf: Readonly<Record<string, readonly string[]>> = {
  bare: ['bare'],
  steps: ['one', 'two'],
  asks: ['one', 'two'],
  tells: ['tells'],
}

/** @returns the counts, and every call whose effects are not what its client was told */
export function judge(
  arena: string,
  told: ReadonlyMap<string, Told & { readonly kind: string }>,
  world: World,
  circumstances: Circumstances,
): Counts {
  const effects = world.effects()
  const faults: string[] = []
  for (const [name, { kind, end }] of told) {
    for (const what of effectsOf[kind] ?? []) {
      const had = effects.get(`${name} ${what}`) ?? 0
      if (had > 1 || (end === 'done' && had !== 1))
        faults.push(`${name}: ${what} was had ${had} times, and told ${end}`)
    }
    if (end === 'unknown' && (kind === 'steps' || kind === 'asks'))
      faults.push(`${name}: may run again, and is unknown`)
  }
  const { sessionsLost, eventsLost, stale } = circumstances
  if (sessionsLost > 0) faults.push(`${sessionsLost} requests were told that there is no such session`)
  if (eventsLost > 0) faults.push(`${eventsLost} streams left out events without a word`)
  if (stale > 0) faults.push('the subscriber was not told of the last change')
  const all = [...told.values()]
  return {
    ...circumstances,
    arena,
    calls: told.size,
    sent: all.reduce((sum, { sent }) => sum + sent, 0),
    done: all.filter(({ end }) => end === 'done').length,
    unknown: all.filter(({ end }) => end === 'unknown').length,
    replayed: all.filter(({ replayed }) => replayed).length,
    effects: [...effects.values()].reduce((sum, had) => sum + had, 0),
    faults,
  }
}

/** Says what came of an arena. */
export function print(counts: Counts | undefined): void {
  if (counts === undefined) return
  const { arena, faults, seconds, ...numbers } = counts
  const said = Object.entries(numbers).map(([name, value]) => `${name} ${value}`)
  console.log(`${arena}: ${said.join(', ')}, ${seconds.toFixed(1)} s, ${faults.length} faults`)
  for (const fault of faults) console.log(`  FAULT ${fault}`)
}
