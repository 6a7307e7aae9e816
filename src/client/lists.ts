import { isCallFailed } from '../model/failure.ts'
import type { Feature } from '../model/feature.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from '../model/nouns.ts'
import type { Logger } from '../model/ports.ts'
import type { HeaderPlan } from '../model/served.ts'
import { headerPlan } from '../schema/header-plan.ts'
import type { Dialect } from '../peer/calling.ts'
import type { Kept } from './list-cache.ts'
import type { RequestOptions } from './options.ts'
import { within, type Patience } from './patience.ts'
import { readPages, type PagingLimits, type Whole } from './paging.ts'
import { createReadings, type Reading } from './readings.ts'

/** What can be listed, and what an entry is. */
export interface Listed {
  tools: Tool
  resources: Resource
  resourceTemplates: ResourceTemplate
  prompts: Prompt
}

/** The kinds of list that servers have. */
export type ListKind = keyof Listed

interface Kind {
  readonly method: string
  readonly named: string
  /** Without it the server has no such list. */
  readonly feature: Feature
  /** With it the server tells of changes. */
  readonly tells: Feature
}

/** The lists, by kind. */
export const kinds: Readonly<Record<ListKind, Kind>> = {
  tools: { method: 'tools/list', named: 'name', feature: 'tools', tells: 'tools.listChanged' },
  resources: { method: 'resources/list', named: 'uri', feature: 'resources', tells: 'resources.listChanged' },
  resourceTemplates: {
    method: 'resources/templates/list',
    named: 'uriTemplate',
    feature: 'resources',
    tells: 'resources.listChanged',
  },
  prompts: { method: 'prompts/list', named: 'name', feature: 'prompts', tells: 'prompts.listChanged' },
}

/** A tool, and what calling it takes. */
export interface KnownTool {
  readonly tool: Tool
  readonly headerPlan: HeaderPlan | undefined
}

/** The lists of one server, kept while they are good. */
export interface Lists {
  list<K extends ListKind>(kind: K, options?: RequestOptions): Promise<readonly Listed[K][]>
  /** The tool as it was last listed, however long ago. */
  tool(name: string): KnownTool | undefined
  /** Until when a list is good, in milliseconds since the epoch; `undefined` where it never was. */
  goodUntil(kind: ListKind): number | undefined
  /** A list is good no more. */
  changed(kind: ListKind): Promise<void>
  /** None is: another session took the place of the one that they were read in. */
  reset(): void
}

/** What lists are read with. */
export interface ListsOptions {
  readonly limits: PagingLimits
  readonly logger: Logger
  readonly now: () => number
  /** What is spoken. */
  dialect(): Dialect
  /** Waits a moment for changes to be heard of. What it resolves to tells whether they are, with none missed since then. */
  listening(): Promise<() => boolean>
  page(method: string, cursor: string | undefined, options: RequestOptions): Promise<JsonObject>
  kept(dialect: Dialect): Kept
}

/** Without a word of how long it is good, a list whose changes are told is kept so long. Milliseconds. */
const toldMs = 5 * 60_000

interface UsableTools {
  readonly usable: readonly JsonObject[]
  readonly known: ReadonlyMap<string, KnownTool>
}

interface Memory {
  readonly items: readonly JsonObject[]
  readonly goodUntil: number
  /** Where it is good only for as long as its changes are told: whether they are. */
  readonly stillHears: (() => boolean) | undefined
}

/** Makes the lists of one client. */
export function createLists(options: ListsOptions): Lists {
  const { logger, now } = options
  const memory = new Map<ListKind, Memory>()
  const pending = new Map<ListKind, Promise<readonly JsonObject[]>>()
  const readings = createReadings()
  let tools: ReadonlyMap<string, KnownTool> = new Map()

  /** Returns what of a list is of use. What changed while it was read takes the place of nothing newer, and is good no more. */
  function remember(
    kind: ListKind,
    items: readonly JsonObject[],
    { goodUntil, stillHears }: Omit<Memory, 'items'>,
    { dialect, reading }: { readonly dialect: Dialect; readonly reading: Reading },
  ): readonly JsonObject[] {
    const isLatest = !reading.isOld || !memory.has(kind)
    const { usable, known } = kind === 'tools' ? usableTools(items, dialect) : { usable: items, known: tools }
    if (!isLatest) return usable
    tools = known
    memory.set(kind, { items: usable, goodUntil: reading.isOld ? Math.min(goodUntil, now()) : goodUntil, stillHears })
    return usable
  }

  /** Tools whose annotations break the rules of headers are left out where headers are sent (Streamable HTTP, custom headers). */
  function usableTools(items: readonly JsonObject[], { features }: Dialect): UsableTools {
    const known = new Map<string, KnownTool>()
    const mirrors = features.has('tool.headers')
    for (const item of items) {
      const tool = item as unknown as Tool
      const schema = own(item, 'inputSchema')
      const plan = mirrors && isObject(schema) ? headerPlan(schema) : { plan: undefined }
      if ('invalid' in plan) logger.warn('a tool is left out', { tool: tool.name, why: plan.invalid })
      else known.set(tool.name, { tool, headerPlan: plan.plan })
    }
    const usable = mirrors ? items.filter(({ name }) => typeof name === 'string' && known.has(name)) : items
    return { usable, known }
  }

  async function read(kind: ListKind, given: RequestOptions, reading: Reading): Promise<readonly JsonObject[]> {
    const dialect = options.dialect()
    const of = { dialect, reading }
    const { method, named, feature, tells } = kinds[kind]
    if (!dialect.features.has(feature)) return []
    const store = options.kept(dialect)
    const stored = await store.get(method)
    if (Array.isArray(stored?.items)) return remember(kind, stored.items as readonly JsonObject[], unkept, of)
    const isTold = dialect.features.has(tells) && dialect.features.has('handshake')
    const stillHears = isTold ? await options.listening() : undefined
    const emptyMeansMore = dialect.features.has('pagination.emptyCursor')
    const fetch = (cursor: string | undefined): Promise<JsonObject> => options.page(method, cursor, given)
    const whole = await readPages(fetch, { member: kind, named }, emptyMeansMore, options.limits, logger)
    const { items, isPublic } = whole
    if (whole.ttlMs !== undefined && !reading.isOld)
      await store.set(method, { items }, { ttlMs: whole.ttlMs, isPublic })
    return remember(kind, items, goodFor(whole, stillHears, now()), of)
  }

  const lists: Lists = {
    async list(kind, given = {}) {
      const known = memory.get(kind)
      if (known && isGood(known, now())) return known.items as never
      const shared = pending.get(kind)
      if (shared) return (await joined<readonly unknown[]>(shared, given, () => lists.list(kind, given))) as never
      const reading = readings.begin(kind)
      const fresh = read(kind, given, reading)
      // What one caller may cancel is not shared.
      if (!given.signal) pending.set(kind, fresh)
      try {
        return (await fresh) as never
      } finally {
        reading.end()
        if (pending.get(kind) === fresh) pending.delete(kind)
      }
    },
    tool: (name) => tools.get(name),
    goodUntil: (kind) => memory.get(kind)?.goodUntil || undefined,
    async changed(kind) {
      memory.delete(kind)
      // What is being read may be from before the change.
      readings.changed(kind)
      pending.delete(kind)
      await options.kept(options.dialect()).delete(kinds[kind].method)
    },
    reset() {
      memory.clear()
      readings.reset()
      pending.clear()
    },
  }
  return lists
}

/** What somebody else reads, for as long as `given` says; where the other's patience ends first, it is read `anew`. */
async function joined<T>(shared: Promise<T>, given: RequestOptions, anew: () => Promise<T>): Promise<T> {
  const { signal, timeoutMs = Infinity, maxTimeoutMs = Infinity } = given
  const ms = Math.min(timeoutMs, maxTimeoutMs)
  const patience: Patience = { ...(signal && { signal }), ...(ms < Infinity && { timeoutMs: ms }) }
  const since = performance.now()
  try {
    return await within(shared, patience, 'The list took too long')
  } catch (error) {
    const isOthers = isCallFailed(error) && error.kind === 'TimedOut' && performance.now() - since < ms
    if (!isOthers || (signal?.aborted ?? false)) throw error
    return anew()
  }
}

const unkept = { goodUntil: 0, stillHears: undefined }

/** How long a list may be kept in memory. */
function goodFor({ ttlMs }: Whole, stillHears: Memory['stillHears'], now: number): Omit<Memory, 'items'> {
  if (ttlMs !== undefined) return ttlMs > 0 ? { goodUntil: now + ttlMs, stillHears: undefined } : unkept
  return stillHears?.() === true ? { goodUntil: now + toldMs, stillHears } : unkept
}

function isGood({ goodUntil, stillHears }: Memory, now: number): boolean {
  return goodUntil > now && stillHears?.() !== false
}
