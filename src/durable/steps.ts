import type { Json } from '../model/json.ts'
import type { Clock } from '../model/ports.ts'
import type { Store } from '../model/store.ts'
import { stepKey, type Flow } from './flow.ts'

interface StepPorts {
  readonly store: Store
  readonly clock: Clock
}

/** What a step came to is kept as long as the call it belongs to can be asked for again. Milliseconds. */
const keepMs = 24 * 3600_000
/** So many at most; the oldest gives way. */
const maxSteps = 100_000

/** What a step of the flow came to in a run before this one; `undefined` if it is not known to have run. */
export async function recallStep(flow: Flow, step: string, { store }: StepPorts): Promise<Json | undefined> {
  const kept = await store.get(nameOf(flow, step))
  return kept && (JSON.parse(kept.value) as Json)
}

/** Records what a step came to. If it was recorded before, that stands, and is returned. */
export async function recordStep(flow: Flow, step: string, result: Json, ports: StepPorts): Promise<Json> {
  const options = { ifVersion: 0, expiresAt: ports.clock() + keepMs, maxInGroup: maxSteps, evict: 'last' } as const
  const first = await ports.store.put(nameOf(flow, step), JSON.stringify(result), options)
  return first === undefined ? ((await recallStep(flow, step, ports)) ?? result) : result
}

function nameOf(flow: Flow, step: string): string {
  return `step/${stepKey(flow, step)}`
}
