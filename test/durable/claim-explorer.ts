// Every way in which two holders can interleave over one store: reads and writes are steps of their own, a holder can
// die at any of them, and time passes between any two.
import { transition } from '../../src/durable/claim.ts'
import type { Claim, ClaimEvent } from '../../src/durable/claim.ts'

interface Holder {
  /** `reading`: knows what is stored and has yet to write; `settling`: the same, for the end of its run. */
  readonly at: 'idle' | 'reading' | 'running' | 'settling'
  /** What it read, and whether nobody has written since. */
  readonly seen: { readonly fresh: boolean; readonly claim: Claim | null }
  readonly token: string
  readonly round: number
  /** How it wants to settle, or `renew`. */
  readonly wants: Exclude<ClaimEvent['kind'], 'claim'> | undefined
  readonly triesLeft: number
}

interface World {
  readonly now: number
  readonly claim: Claim | null
  readonly holders: readonly [Holder, Holder]
  /** Rounds that have begun and were not given back; no holder knows this. */
  readonly began: readonly number[]
}

/** One write to the store: the state before, the event, the state after. */
export type Arrow = `${State} ${ClaimEvent['kind']} ${State}`
/** How a claim stands, and whether its lease or state has run out. */
export type State = 'absent' | 'completed' | 'unknown' | `${'running' | 'suspended'}${'' | '-late'}`

/** What was found on the way through all worlds. */
export interface Explored {
  readonly worlds: number
  readonly arrows: ReadonlySet<Arrow>
  /** Arrows that follow one another, as `arrow > arrow`. */
  readonly pairs: ReadonlySet<string>
  /** What nobody must ever see; empty when all is well. */
  readonly faults: readonly string[]
}

const nobody: Holder = {
  at: 'idle',
  seen: { fresh: false, claim: null },
  token: '',
  round: 0,
  wants: undefined,
  triesLeft: 0,
}
const endings = ['complete', 'suspend', 'lose', 'release', 'renew'] as const

/** Walks through every world that can come about. @param rerun whether the tool may run again */
export function explore(
  rerun: boolean,
  limits: { readonly tries: readonly [number, number]; readonly ticks: number },
): Explored {
  const arrows = new Set<Arrow>()
  const pairs = new Set<string>()
  const faults: string[] = []
  const holders = limits.tries.map((triesLeft) => ({ ...nobody, triesLeft })) as [Holder, Holder] // as many as tries
  const start: World = { now: 0, claim: null, holders, began: [] }
  const queue: { world: World; last: Arrow | undefined }[] = [{ world: start, last: undefined }]
  const seen = new Set<string>()
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { world, last } = next
    for (const step of stepsOf(world, rerun, limits.ticks)) {
      if (step.fault !== undefined) faults.push(`${step.fault}: ${JSON.stringify(world)}`)
      if (step.arrow !== undefined) {
        arrows.add(step.arrow)
        if (last !== undefined) pairs.add(`${last} > ${step.arrow}`)
      }
      const after = { world: step.world, last: step.arrow ?? last }
      const name = JSON.stringify(after)
      if (seen.has(name)) continue
      seen.add(name)
      queue.push(after)
    }
  }
  return { worlds: seen.size, arrows, pairs, faults }
}

interface Step {
  readonly world: World
  readonly arrow?: Arrow | undefined
  readonly fault?: string | undefined
}

function stepsOf(world: World, rerun: boolean, ticks: number): readonly Step[] {
  const passing = world.now < ticks ? [{ world: { ...world, now: world.now + 1 } }] : []
  return [...passing, ...[0, 1].flatMap((index) => holderSteps(world, index as 0 | 1, rerun))]
}

function holderSteps(world: World, index: 0 | 1, rerun: boolean): readonly Step[] {
  const holder = world.holders[index]
  const become = (next: Partial<Holder>): World => withHolder(world, index, { ...holder, ...next })
  const look = { seen: { fresh: true, claim: world.claim } }
  const dead = { world: become({ ...nobody, triesLeft: holder.triesLeft }) }
  switch (holder.at) {
    case 'idle':
      if (holder.triesLeft === 0) return []
      return [0, 1].map((round) => {
        const token = `${index}${holder.triesLeft}`
        return { world: become({ at: 'reading', token, round, triesLeft: holder.triesLeft - 1, ...look }) }
      })
    case 'reading':
      return [claimed(world, index, rerun), dead]
    case 'running':
      return [...endings.map((wants) => ({ world: become({ at: 'settling', wants, ...look }) })), dead]
    case 'settling':
      return [settled(world, index), dead]
  }
}

function claimed(world: World, index: 0 | 1, rerun: boolean): Step {
  const holder = world.holders[index]
  const { token, round } = holder
  const attempt = { arguments: 'x', round, answers: `a${round}`, token, rerun }
  const event: ClaimEvent = { kind: 'claim', attempt, now: world.now, leaseUntil: world.now + 1 }
  const before = holder.seen.claim ?? undefined
  const { next, verdict } = transition(before, event)
  const back: Holder = { ...nobody, triesLeft: holder.triesLeft }
  if (next === before) return { world: withHolder(world, index, back) }
  if (!holder.seen.fresh) return again(world, index)
  const runs = verdict.kind === 'run'
  const anew = stateOf(world.claim, world.now) === 'suspended-late'
  const began = runs ? [...(anew ? [] : world.began), round] : world.began
  const written = {
    ...write(world, next, index, runs ? { ...holder, at: 'running' } : back),
    began: [...new Set(began)],
  }
  const fault = runs && !rerun ? faultOf(world, index, anew ? [] : world.began, round) : undefined
  return { world: written, arrow: arrowOf(world, event, written), fault: fault ?? changed(world) }
}

function faultOf(world: World, index: 0 | 1, began: readonly number[], round: number): string | undefined {
  const other = world.holders[index === 0 ? 1 : 0]
  if (other.at === 'running' || other.at === 'settling') return 'two ran at once'
  return began.includes(round) ? 'a round ran twice' : undefined
}

function changed({ claim }: World): string | undefined {
  return claim?.state === 'completed' ? 'what was recorded for good changed' : undefined
}

function settled(world: World, index: 0 | 1): Step {
  const holder = world.holders[index]
  const { token, wants = 'lose' } = holder
  const outcome = { result: token }
  const times = { leaseUntil: world.now + 1, goodUntil: world.now + 1 }
  const event = { kind: wants, token, outcome, ...times } as ClaimEvent // with more than its kind needs
  const before = holder.seen.claim ?? undefined
  const { next, verdict } = transition(before, event)
  const back: Holder =
    wants === 'renew' && verdict.kind === 'done'
      ? { ...holder, at: 'running', wants: undefined }
      : { ...nobody, triesLeft: holder.triesLeft }
  if (verdict.kind === 'stale') return { world: withHolder(world, index, back) }
  if (!holder.seen.fresh) return again(world, index)
  const began = wants === 'release' ? [] : world.began
  const written = { ...write(world, next, index, back), began }
  return { world: written, arrow: arrowOf(world, event, written), fault: changed(world) }
}

/** Somebody wrote meanwhile: looks anew. */
function again(world: World, index: 0 | 1): Step {
  const seen = { fresh: true, claim: world.claim }
  return { world: withHolder(world, index, { ...world.holders[index], seen }) }
}

function write(world: World, next: Claim | undefined, index: 0 | 1, holder: Holder): World {
  const claim = next ?? null
  const other = world.holders[index === 0 ? 1 : 0]
  const outdated = withHolder(world, index === 0 ? 1 : 0, { ...other, seen: { ...other.seen, fresh: false } })
  return { ...withHolder(outdated, index, { ...holder, seen: nobody.seen }), claim }
}

function withHolder(world: World, index: 0 | 1, holder: Holder): World {
  const [first, second] = world.holders
  return { ...world, holders: index === 0 ? [holder, second] : [first, holder] }
}

function arrowOf(before: World, event: ClaimEvent, after: World): Arrow {
  return `${stateOf(before.claim, before.now)} ${event.kind} ${stateOf(after.claim, before.now)}`
}

function stateOf(claim: Claim | null, now: number): State {
  if (claim === null) return 'absent'
  if (claim.state === 'running') return claim.leaseUntil > now ? 'running' : 'running-late'
  if (claim.state === 'suspended') return claim.goodUntil > now ? 'suspended' : 'suspended-late'
  return claim.state
}
