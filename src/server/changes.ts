import type { Change } from '../model/notification.ts'
import type { Snapshot } from './registry.ts'
import { isVisible, type Scoped } from './visibility.ts'

/** A change of what is offered, as the user of the server is told of it. */
export type Announced = Exclude<Change, { readonly kind: 'task' }>

/** What a peer may be told of the difference: one change per kind, to those who see any of what differs. */
export function changesBetween(before: Snapshot, after: Snapshot): readonly Announced[] {
  const of = (kind: 'tools' | 'prompts' | 'resources', lists: readonly (keyof Snapshot)[]): readonly Announced[] => {
    const touched = lists.flatMap((list) => differing<Scoped>(before[list].byKey, after[list].byKey))
    return touched.length === 0 ? [] : [{ kind, visibleTo: (who) => touched.some((entry) => isVisible(entry, who)) }]
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
