import type { Change } from '../model/notification.ts'
import type { Snapshot } from './registry.ts'
import { isVisible, type Scoped } from './visibility.ts'

/**
 * A change of what is offered, as the user of the server is told of it. `scopes` are those of what changed: whoever holds
 * all of one set may be told; left out, everybody may.
 */
export type Announced = Exclude<Change, { readonly kind: 'task' }> & {
  readonly scopes?: readonly (readonly string[])[]
}

/** What a peer may be told of the difference: one change per kind, to those who see any of what differs. */
export function changesBetween(before: Snapshot, after: Snapshot): readonly Announced[] {
  const of = (kind: 'tools' | 'prompts' | 'resources', lists: readonly (keyof Snapshot)[]): readonly Announced[] => {
    const touched = lists.flatMap((list) => differing<Scoped>(before[list].byKey, after[list].byKey))
    if (touched.length === 0) return []
    const scopes = touched.map((entry) => entry.scopes ?? [])
    const everybody = scopes.some((each) => each.length === 0)
    return [{ kind, visibleTo: (who) => touched.some((entry) => isVisible(entry, who)), ...(!everybody && { scopes }) }]
  }
  return [
    ...of('tools', ['tools']),
    ...of('resources', ['resources', 'resourceTemplates']),
    ...of('prompts', ['prompts']),
  ]
}

function differing<E>(before: ReadonlyMap<string, E>, after: ReadonlyMap<string, E>): readonly E[] {
  const gone = [...before].filter(([key, entry]) => after.get(key) !== entry)
  const come = [...after].filter(([key, entry]) => before.get(key) !== entry)
  return [...gone, ...come].map(([, entry]) => entry)
}
