import { promptEntry, resourceEntry, templateEntry, toolEntry } from './entry.ts'
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './entry.ts'
import type { ListKind, Primitive } from './server.ts'

/** The primitives of one kind, in the order in which they were added. */
export interface Shelf<E> {
  readonly byKey: ReadonlyMap<string, E>
  readonly ordered: readonly E[]
  /** Whether any of them is hidden from somebody. */
  readonly scoped: boolean
  /** The place of each, by key. Places only grow: one that was given up is never given again. */
  readonly places: ReadonlyMap<string, number>
  /** The last place that was given. */
  readonly last: number
}

/** Everything that is registered at one moment. Never changes; a change makes another. */
export interface Snapshot {
  readonly tools: Shelf<ToolEntry>
  readonly resources: Shelf<ResourceEntry>
  readonly resourceTemplates: Shelf<TemplateEntry>
  readonly prompts: Shelf<PromptEntry>
}

type Entry = Snapshot[ListKind]['ordered'][number]
type Compiled = { [K in ListKind]: { readonly list: K; readonly entry: Snapshot[K]['ordered'][number] } }[ListKind]

/** A registry with nothing in it. Its shelves are its own: what is kept of a list is kept by its shelf. */
export function emptySnapshot(): Snapshot {
  return { tools: emptyShelf(), resources: emptyShelf(), resourceTemplates: emptyShelf(), prompts: emptyShelf() }
}

function emptyShelf(): Shelf<never> {
  return { byKey: new Map<string, never>(), ordered: [], scoped: false, places: new Map<string, never>(), last: 0 }
}

const lists = { tool: 'tools', resource: 'resources', template: 'resourceTemplates', prompt: 'prompts' } as const

/** Whether `added` is a primitive, rather than an object with methods that are some. */
export function isPrimitive(added: object): added is Primitive {
  return 'kind' in added && 'config' in added && Object.hasOwn(lists, String(added.kind))
}

/** The list that a kind of primitive stands on. */
export function listOf(kind: Primitive['kind']): ListKind {
  return lists[kind]
}

/** A snapshot with `primitives` besides. @throws if one cannot be compiled or its name is taken; then nothing is added. */
export function withAdded(snapshot: Snapshot, primitives: readonly Primitive[]): Snapshot {
  return rebuilt(snapshot, primitives.map(compile), false)
}

/** A snapshot with `primitive` where the one with its name was. */
export function withReplaced(snapshot: Snapshot, primitive: Primitive): Snapshot {
  return rebuilt(snapshot, [compile(primitive)], true)
}

/** A snapshot without what `kind` and `key` name, or the same snapshot if there is no such thing. */
export function withRemoved(snapshot: Snapshot, kind: Primitive['kind'], key: string): Snapshot {
  const list = listOf(kind)
  if (!snapshot[list].byKey.has(key)) return snapshot
  const byKey = new Map<string, Entry>(snapshot[list].byKey)
  byKey.delete(key)
  return { ...snapshot, [list]: shelf(byKey, snapshot[list]) }
}

function compile(primitive: Primitive): Compiled {
  switch (primitive.kind) {
    case 'tool':
      return { list: 'tools', entry: toolEntry(primitive) }
    case 'resource':
      return { list: 'resources', entry: resourceEntry(primitive) }
    case 'template':
      return { list: 'resourceTemplates', entry: templateEntry(primitive) }
    case 'prompt':
      return { list: 'prompts', entry: promptEntry(primitive) }
  }
}

function rebuilt(snapshot: Snapshot, compiled: readonly Compiled[], replacing: boolean): Snapshot {
  const next: { [K in ListKind]?: Map<string, Entry> } = {}
  for (const { list, entry } of compiled) {
    const byKey = (next[list] ??= new Map<string, Entry>(snapshot[list].byKey))
    if (byKey.has(entry.key) && !replacing) throw new Error(`${list} has ${JSON.stringify(entry.key)} already`)
    byKey.set(entry.key, entry)
  }
  return {
    ...snapshot,
    ...Object.fromEntries(
      Object.entries(next).map(([list, byKey]) => [list, shelf(byKey, snapshot[list as ListKind])]),
    ),
  }
}

function shelf<E extends { readonly scopes: readonly string[] | undefined }>(
  byKey: ReadonlyMap<string, E>,
  before: Shelf<unknown>,
): Shelf<E> {
  const ordered = [...byKey.values()]
  let { last } = before
  const places = new Map([...byKey.keys()].map((key) => [key, before.places.get(key) ?? ++last]))
  return { byKey, ordered, scoped: ordered.some((entry) => entry.scopes !== undefined), places, last }
}
