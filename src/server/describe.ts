import type { Principal } from '../model/notification.ts'
import type { Description } from '../model/served.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { scopesOf } from './entry.ts'
import type { Snapshot } from './registry.ts'
import type { Primitive, ServerOptions } from './server.ts'
import { tasksExtension } from './task-view.ts'
import { isVisible, type Scoped } from './visibility.ts'

/** Who the server says it is. */
export function implementationOf(options: ServerOptions): Description['info'] {
  const { name, version, title, description, websiteUrl, icons } = options
  if (typeof name !== 'string' || typeof version !== 'string') throw new TypeError('A server has a name and a version')
  return Object.freeze({
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons && { icons }),
  })
}

/** What is declared to whoever sees something of it. */
const kinds = ['tools', 'resources', 'prompts', 'completions', 'tasks'] as const
type Kind = (typeof kinds)[number]

/** What extensions declare: themselves, and what goes with them. */
export interface Extensions {
  readonly extensions: Readonly<Record<string, JsonObject>>
  readonly capabilities: readonly JsonObject[]
}

/**
 * What a server says of itself while `snapshot` is what it offers and `extended` what its extensions declare. What
 * somebody cannot see is not declared to them either: hidden is absent. Callers who see alike are told by one and the
 * same object, so that what is made of it can be kept; where nothing is hidden, nothing is looked through for a call.
 */
export function createDescriber(
  options: ServerOptions,
  info: Description['info'],
  snapshot: Snapshot,
  extended: Extensions,
): (principal: Principal | undefined) => Description {
  const offer = offerOf(options, snapshot)
  const personal = kinds.filter((kind) => offer[kind].some(({ scopes }) => scopes !== undefined))
  const known = new Map<number, Description>()
  return (principal) => {
    const sees = (kind: Kind): boolean => offer[kind].some((one) => isVisible(one, principal))
    let view = principal === undefined ? 0 : 1
    for (const kind of personal) view = view * 2 + (sees(kind) ? 1 : 0)
    const before = known.get(view)
    if (before) return before
    const fresh = describe(options, info, new Set(kinds.filter(sees)), extended, principal !== undefined)
    // What depends on who asks is kept for nobody else.
    const told = personal.length > 0 ? { ...fresh, hints: { ...fresh.hints, cacheScope: 'private' as const } } : fresh
    known.set(view, told)
    return told
  }
}

function describe(
  options: ServerOptions,
  info: Description['info'],
  seen: ReadonlySet<Kind>,
  { extensions, capabilities }: Extensions,
  identified: boolean,
): Description {
  const { instructions, cache } = options
  const all = seen.has('tasks') ? { [tasksExtension]: {}, ...extensions } : extensions
  const declared = [...capabilities, capabilitiesOf(options, seen, identified)].reduce(merged, {})
  const { logging: _, ...silent } = declared
  return {
    info,
    ...(instructions !== undefined && { instructions }),
    capabilities: {
      ...(options.capabilities?.logging === false ? silent : declared),
      ...(Object.keys(all).length > 0 && { extensions: all }),
    },
    hints: { ttlMs: cache?.discover?.ttlMs ?? 0, cacheScope: cache?.discover?.cacheScope ?? 'public' },
  }
}

/** Whether any tool may run as a task. */
export function runsTasks({ tools }: Snapshot): boolean {
  return tools.ordered.some(canBeTask)
}

function canBeTask({ listing }: Snapshot['tools']['ordered'][number]): boolean {
  return listing.execution !== undefined
}

/** Nobody in particular has no tasks to list (2025-11-25, tasks, security). */
function tasksOf(identified: boolean): JsonObject {
  return { ...(identified && { list: {} }), cancel: {}, requests: { tools: { call: {} } } }
}

/** Calls take an idempotency key: told to whoever looks for it, in the one place that every revision has for that. */
const keys = { 'dev.dragoman/idempotencyKey': {} }

function capabilitiesOf({ capabilities }: ServerOptions, seen: ReadonlySet<Kind>, identified: boolean): JsonObject {
  return {
    ...(seen.has('tools') && { tools: { listChanged: true } }),
    ...(seen.has('resources') && { resources: { subscribe: true, listChanged: true } }),
    ...(seen.has('prompts') && { prompts: { listChanged: true } }),
    ...(seen.has('completions') && { completions: {} }),
    logging: {},
    experimental: { ...capabilities?.experimental, ...keys },
    ...(seen.has('tasks') && { tasks: tasksOf(identified) }),
  }
}

/** Both, and what is an object in both put together; where they differ, `after` has it. */
function merged(before: JsonObject, after: JsonObject): JsonObject {
  const member = (name: string, value: Json | undefined): Json | undefined => {
    const other = own(before, name)
    return isObject(other) && isObject(value) ? { ...other, ...value } : value
  }
  return { ...before, ...Object.fromEntries(Object.entries(after).map(([name, value]) => [name, member(name, value)])) }
}

/** By kind: whoever sees one of these is told of it. */
type Offer = Readonly<Record<Kind, readonly Scoped[]>>

function offerOf(options: ServerOptions, { tools, resources, resourceTemplates, prompts }: Snapshot): Offer {
  return {
    tools: distinct([...given(options.tools), ...tools.ordered]),
    resources: distinct([...given(options.resources), ...resources.ordered, ...resourceTemplates.ordered]),
    prompts: distinct([...given(options.prompts), ...prompts.ordered]),
    completions: distinct([
      ...prompts.ordered.filter(({ value }) =>
        Object.values(value.config.arguments ?? {}).some(({ complete }) => complete !== undefined),
      ),
      ...resourceTemplates.ordered.filter(({ value }) => Object.keys(value.config.complete ?? {}).length > 0),
    ]),
    tasks: distinct(tools.ordered.filter(canBeTask)),
  }
}

/** A kind stays declared to whoever saw any that was given, also once it is removed; of an empty list more may come for anybody. */
function given(primitives: readonly Primitive[] | undefined): readonly Scoped[] {
  if (primitives?.length === 0) return [{ scopes: undefined }]
  return (primitives ?? []).map(({ config }) => ({ scopes: scopesOf(config) }))
}

/** Those of `all` that differ in who sees them: one, where everybody sees one. */
function distinct(all: readonly Scoped[]): readonly Scoped[] {
  const open = all.find(({ scopes }) => scopes === undefined)
  if (open) return [open]
  return [...new Map(all.map((one) => [JSON.stringify(one.scopes?.toSorted()), one])).values()]
}
