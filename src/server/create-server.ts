import type { Call, Operation } from '../model/call.ts'
import type { JsonObject } from '../model/json.ts'
import type { ServerCapabilities } from '../model/nouns.ts'
import type { Change } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import type { CallContext, Description } from '../model/served.ts'
import type { Core, Method } from './core.ts'
import { complete } from './methods/completion.ts'
import { listen } from './methods/listen.ts'
import { setLogLevel } from './methods/logging.ts'
import { getPrompt, listPrompts } from './methods/prompts.ts'
import {
  listResources,
  listResourceTemplates,
  mayKnow,
  readResource,
  subscribeResource,
  unsubscribeResource,
} from './methods/resources.ts'
import { callTool, listTools } from './methods/tools.ts'
import { emptySnapshot, withAdded, withRemoved, withReplaced, type Snapshot } from './registry.ts'
import type { Primitive, Server, ServerHandle, ServerOptions, ServerPorts } from './server.ts'
import { tool } from './tool.ts'
import { findVisible, isVisible, type Scoped } from './visibility.ts'

const methods: { readonly [O in Operation]: Method<O> } = {
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listResourceTemplates,
  'resources/read': readResource,
  'resources/subscribe': subscribeResource,
  'resources/unsubscribe': unsubscribeResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': complete,
  'logging/setLevel': setLogLevel,
  'subscriptions/listen': listen,
}

/** The codec has checked that `params` have the shape that the method's name promises, so one signature fits them all. */
type AnyMethod = (params: JsonObject, context: CallContext, core: Core, call: Call) => Promise<JsonObject>
const methodTable = new Map(Object.entries(methods)) as unknown as ReadonlyMap<string, AnyMethod>

/** Builds a server value over its ports. @throws if a primitive cannot be compiled or two have one name; the error names it */
export function createServerOver(options: ServerOptions, ports: ServerPorts): Server {
  let snapshot = withAdded(emptySnapshot, [...(options.tools ?? []), ...(options.resources ?? []), ...(options.prompts ?? [])])
  const listeners = new Set<(change: Change) => void>()
  const warned = new Set<string>()
  const announce = (change: Change): void => {
    for (const listener of [...listeners]) listener(change)
  }
  const publish = (next: Snapshot): void => {
    const before = snapshot
    snapshot = next
    for (const change of changesBetween(before, next)) announce(change)
  }
  const handle: ServerHandle = {
    add: (...primitives) => publish(withAdded(snapshot, primitives)),
    replace: (primitive) => publish(withReplaced(snapshot, primitive)),
    remove: (kind, name) => removed(kind, name),
    changed: (kind) => announce({ kind, visibleTo: () => true }),
    updated: (uri) => announce({ kind: 'resource', uri, visibleTo: (principal) => mayKnow(uri, principal, core) }),
  }
  function removed(kind: Primitive['kind'], name: string): boolean {
    const next = withRemoved(snapshot, kind, name)
    if (next === snapshot) return false
    publish(next)
    return true
  }
  const core: Core = {
    options,
    ports,
    handle,
    snapshot: () => snapshot,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    deprecated: (feature) => {
      if (warned.has(feature)) return
      warned.add(feature)
      ports.logger.warn('deprecated by the specification', { feature })
    },
  }
  const info = implementationOf(options)
  const server: Server = {
    ...handle,
    tool: (name, config, handler) => {
      handle.add(tool(name, config, handler))
      return server
    },
    handle: (call, context) => {
      const method = methodTable.get(call.method)
      return method ? method(call.params, context, core, call) : Promise.reject(new Refusal('UnknownMethod'))
    },
    describe: () => describe(options, info, snapshot),
    onChange: core.onChange,
    headerPlan: (name, principal) => findVisible(snapshot.tools, name, principal, ports.logger)?.headers,
  }
  return server
}

/** What a peer may be told of the difference: one change per kind, to those who see any of what differs. */
function changesBetween(before: Snapshot, after: Snapshot): readonly Change[] {
  const of = (kind: 'tools' | 'prompts' | 'resources', lists: readonly (keyof Snapshot)[]): readonly Change[] => {
    const touched = lists.flatMap((list) => differing<Scoped>(before[list].byKey, after[list].byKey))
    return touched.length === 0 ? [] : [{ kind, visibleTo: (who) => touched.some((entry) => isVisible(entry, who)) }]
  }
  return [...of('tools', ['tools']), ...of('resources', ['resources', 'resourceTemplates']), ...of('prompts', ['prompts'])]
}

function differing<E>(before: ReadonlyMap<string, E>, after: ReadonlyMap<string, E>): readonly E[] {
  const gone = [...before].filter(([key, entry]) => after.get(key) !== entry)
  const come = [...after].filter(([key, entry]) => before.get(key) !== entry)
  return [...gone, ...come].map(([, entry]) => entry)
}

function implementationOf(options: ServerOptions): Description['info'] {
  const { name, version, title, description, websiteUrl, icons } = options
  return Object.freeze({
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons && { icons }),
  })
}

const descriptions = new WeakMap<Snapshot, Description>()

/** Made once per snapshot: its bytes can be kept beside it. */
function describe(options: ServerOptions, info: Description['info'], snapshot: Snapshot): Description {
  const known = descriptions.get(snapshot)
  if (known) return known
  const { instructions, cache } = options
  const fresh: Description = {
    info,
    ...(instructions !== undefined && { instructions }),
    capabilities: capabilitiesOf(options, snapshot),
    hints: { ttlMs: cache?.discover?.ttlMs ?? 0, cacheScope: cache?.discover?.cacheScope ?? 'public' },
  }
  descriptions.set(snapshot, fresh)
  return fresh
}

/** A kind is declared where the server was given any of it, even an empty list: more may come. */
function capabilitiesOf({ tools, resources, prompts }: ServerOptions, snapshot: Snapshot): ServerCapabilities {
  const readable = snapshot.resources.ordered.length + snapshot.resourceTemplates.ordered.length > 0
  return {
    ...((tools || snapshot.tools.ordered.length > 0) && { tools: { listChanged: true } }),
    ...((resources || readable) && { resources: { subscribe: true, listChanged: true } }),
    ...((prompts || snapshot.prompts.ordered.length > 0) && { prompts: { listChanged: true } }),
    ...(completes(snapshot) && { completions: {} }),
    logging: {},
  }
}

function completes({ prompts, resourceTemplates }: Snapshot): boolean {
  const arguments_ = prompts.ordered.flatMap(({ value }) => Object.values(value.config.arguments ?? {}))
  return (
    arguments_.some((argument) => argument.complete !== undefined) ||
    resourceTemplates.ordered.some(({ value }) => Object.keys(value.config.complete ?? {}).length > 0)
  )
}

