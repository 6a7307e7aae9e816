import type { ServerCapabilities } from '../model/nouns.ts'
import type { Description } from '../model/served.ts'
import type { JsonObject } from '../model/json.ts'
import type { Snapshot } from './registry.ts'
import type { ServerOptions } from './server.ts'
import { tasksExtension } from './task-view.ts'

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

/** What the server says of itself, to somebody it knows or not, while `snapshot` is what it offers and `extensions` are in use. */
export function describe(
  options: ServerOptions,
  info: Description['info'],
  snapshot: Snapshot,
  extensions: Readonly<Record<string, JsonObject>>,
  identified: boolean,
): Description {
  const { instructions, cache } = options
  const all = runsTasks(snapshot) ? { [tasksExtension]: {}, ...extensions } : extensions
  return {
    info,
    ...(instructions !== undefined && { instructions }),
    capabilities: {
      ...capabilitiesOf(options, snapshot),
      ...(runsTasks(snapshot) && { tasks: tasksOf(identified) }),
      ...(Object.keys(all).length > 0 && { extensions: all }),
    },
    hints: { ttlMs: cache?.discover?.ttlMs ?? 0, cacheScope: cache?.discover?.cacheScope ?? 'public' },
  }
}

/** Whether any tool may run as a task. */
export function runsTasks({ tools }: Snapshot): boolean {
  return tools.ordered.some(({ listing }) => listing.execution !== undefined)
}

/** Nobody in particular has no tasks to list (2025-11-25, tasks, security). */
function tasksOf(identified: boolean): JsonObject {
  return { ...(identified && { list: {} }), cancel: {}, requests: { tools: { call: {} } } }
}

/** Calls take an idempotency key: told to whoever looks for it, in the one place that every revision has for that. */
const keys = { 'dev.dragoman/idempotencyKey': {} }

/** A kind is declared where the server was given any of it, even an empty list: more may come. */
function capabilitiesOf({ tools, resources, prompts }: ServerOptions, snapshot: Snapshot): ServerCapabilities {
  const readable = snapshot.resources.ordered.length + snapshot.resourceTemplates.ordered.length > 0
  return {
    ...((tools || snapshot.tools.ordered.length > 0) && { tools: { listChanged: true } }),
    ...((resources || readable) && { resources: { subscribe: true, listChanged: true } }),
    ...((prompts || snapshot.prompts.ordered.length > 0) && { prompts: { listChanged: true } }),
    ...(completes(snapshot) && { completions: {} }),
    logging: {},
    experimental: keys,
  }
}

function completes({ prompts, resourceTemplates }: Snapshot): boolean {
  const arguments_ = prompts.ordered.flatMap(({ value }) => Object.values(value.config.arguments ?? {}))
  return (
    arguments_.some((argument) => argument.complete !== undefined) ||
    resourceTemplates.ordered.some(({ value }) => Object.keys(value.config.complete ?? {}).length > 0)
  )
}
