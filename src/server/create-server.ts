import { compose } from '../model/compose.ts'
import type { JsonObject } from '../model/json.ts'
import type { Change } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import type { Served } from '../model/served.ts'
import { createClaims } from '../durable/claims.ts'
import { createTasks } from '../durable/tasks.ts'
import { adoptTask } from './adopt-task.ts'
import { createChangeBus } from './change-bus.ts'
import { changesBetween, type Announced } from './changes.ts'
import { checkOptions } from './check-options.ts'
import type { Core } from './core.ts'
import {
  callMethod,
  exists,
  isReserved,
  method,
  methodEntry,
  type MethodEntry,
  type MethodValue,
} from './custom-method.ts'
import { primitivesOf } from './decorated.ts'
import { createDescriber, implementationOf, runsTasks } from './describe.ts'
import { checkCapabilities, checkIdentifier, middlewareOf, type Extension } from './extension.ts'
import { mayKnow } from './methods/resources.ts'
import { layersOf, type Middleware } from './middleware.ts'
import { composeOperations, type Answer } from './operations.ts'
import { emptySnapshot, isPrimitive, withAdded, withRemoved, withReplaced, type Snapshot } from './registry.ts'
import { prompt } from './prompt.ts'
import { resource, template } from './resource.ts'
import type { Server, ServerHandle, ServerOptions, ServerPorts, Told } from './server.ts'
import { toChange } from './task-view.ts'
import { tool } from './tool.ts'
import { findVisible } from './visibility.ts'

/** What is set up while a server is being made, and rarely after. */
interface Setup {
  readonly middleware: readonly Middleware[]
  readonly extensions: Readonly<Record<string, JsonObject>>
  /** What extensions declare beside themselves. */
  readonly capabilities: readonly JsonObject[]
  readonly methods: ReadonlyMap<string, MethodEntry>
}

/** Whether anything is hidden from somebody, by server. */
const scoped = new WeakMap<Served, () => boolean>()

/** Whether anything of a served value is hidden from whoever lacks its scopes; of one that is no server nothing is known. */
export function hidesAnything(served: Served): boolean {
  return scoped.get(served)?.() ?? false
}

/**
 * Builds a server value over its ports.
 * @throws if an option is out of its range, a primitive cannot be compiled or two have one name; the error names it
 */
export function createServerOver(options: ServerOptions, ports: ServerPorts): Server {
  checkOptions(options)
  const primitives = [...(options.tools ?? []), ...(options.resources ?? []), ...(options.prompts ?? [])]
  const info = implementationOf(options)
  const listeners = new Set<(change: Change) => number | void>()
  const warned = new Set<string>()
  let snapshot = withAdded(emptySnapshot(), primitives)
  let setup: Setup = { middleware: options.middleware ?? [], extensions: {}, capabilities: [], methods: new Map() }
  let describing: Served['describe'] | undefined
  /** Whether anybody asked what it is. */
  let isInUse = false

  const handle: ServerHandle = {
    add: (...added) =>
      publish(
        withAdded(
          snapshot,
          (added.flat(Infinity) as readonly object[]).flatMap((one) => (isPrimitive(one) ? [one] : primitivesOf(one))),
        ),
      ),
    replace: (primitive) => publish(withReplaced(snapshot, primitive)),
    remove: (kind, name) => publish(withRemoved(snapshot, kind, name)),
    changed: (kind) => announce([{ kind, visibleTo: () => true }]),
    updated: (uri) => announce([{ kind: 'resource', uri, visibleTo: (principal) => mayKnow(uri, principal, core) }]),
  }
  const core: Core = {
    options,
    ports,
    handle,
    claims: createClaims({ ...ports, ...options.once }),
    tasks: createTasks({
      ...ports,
      ...options.tasks,
      kind: options.name,
      has: (tool) => snapshot.tools.byKey.has(tool),
      adopt: (worker) => void adoptTask(worker, core),
      changed: (owner, task) => tell(toChange(owner, task, core.tasks.pollIntervalMs)),
    }),
    snapshot: () => snapshot,
    tell,
    onChange: (listener) => {
      listeners.add(listener)
      attendToTasks()
      others.listen()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) others.rest()
      }
    },
    deprecated: (feature) => core.warnOnce('deprecated by the specification', { feature }),
    warnOnce: (message, fields) => {
      const about = JSON.stringify([message, fields])
      if (warned.has(about)) return
      warned.add(about)
      ports.logger.warn(message, fields)
    },
  }
  const others = createChangeBus({
    ...ports,
    onChange: (change) => void tell(change),
    mayKnow: (uri, principal) => mayKnow(uri, principal, core),
  })
  let operations = composeOperations(setup.middleware, core)
  let custom = composeCustom(setup)

  /** Publishes `next`, then tells of what differs. What is in flight goes on with what it read. */
  function publish(next: Snapshot): Told {
    const before = snapshot
    snapshot = next
    if (before !== next) describing = undefined
    attendToTasks()
    return announce(changesBetween(before, next))
  }

  /** Whatever comes last, a tool that runs as tasks or whoever the server is for. */
  function attendToTasks(): void {
    if (!runsTasks(snapshot)) return
    if (listeners.size > 0) core.tasks.listen()
    else if (isInUse) core.tasks.lookAfter()
  }

  function announce(changes: readonly Announced[]): Told {
    changes.forEach(others.tell)
    return {
      kinds: changes.map((change) => change.kind),
      peers: changes.reduce((sum, change) => sum + tell(change), 0),
    }
  }

  function tell(change: Change): number {
    return [...listeners].reduce((sum, listener) => sum + (listener(change) ?? 0), 0)
  }

  function composeCustom({ middleware, methods }: Setup): ReadonlyMap<string, Answer> {
    const layers = layersOf(middleware, 'custom')
    return new Map(
      [...methods].map(([name, entry]) => [
        name,
        compose(layers, (call, context) => callMethod(entry, call, context, core)),
      ]),
    )
  }

  function arrange(next: Setup): void {
    setup = next
    describing = undefined
    operations = composeOperations(setup.middleware, core)
    custom = composeCustom(setup)
  }

  function withMethods(added: readonly MethodValue[]): Setup['methods'] {
    const methods = new Map(setup.methods)
    for (const value of added) {
      if (operations.has(value.name) || isReserved(value.name)) {
        throw new Error(`${JSON.stringify(value.name)} is the protocol's own: no method can have that name`)
      }
      if (methods.has(value.name)) throw new Error(`There is a method ${JSON.stringify(value.name)} already`)
      methods.set(value.name, methodEntry(value))
    }
    return methods
  }

  function use(extension: Extension): void {
    const { identifier, settings = {}, methods = [], primitives: brought = [], capabilities = {}, start } = extension
    checkIdentifier(identifier)
    checkCapabilities(extension)
    if (Object.hasOwn(setup.extensions, identifier)) throw new Error(`The extension ${identifier} is in use already`)
    const added = withMethods(
      methods.map((value) => ({ ...value, config: { extension: identifier, ...value.config } })),
    )
    if (brought.length > 0) handle.add(...brought)
    arrange({
      middleware: [...setup.middleware, ...middlewareOf(extension)],
      extensions: { ...setup.extensions, [identifier]: settings },
      capabilities: [...setup.capabilities, capabilities],
      methods: added,
    })
    start?.(handle)
  }

  const owned = (name: string, revision: string): boolean => {
    const entry = setup.methods.get(name)
    return entry !== undefined && exists(entry, revision)
  }

  const answer: Answer = (call, context) => {
    const known =
      operations.get(call.method) ?? (owned(call.method, context.revision) ? custom.get(call.method) : undefined)
    return known ? known(call, context) : Promise.reject(new Refusal('UnknownMethod'))
  }

  const server: Server = {
    ...handle,
    tool: (name, config, handler) => {
      handle.add(tool(name, config, handler))
      return server
    },
    resource: (uri, config, reader) => {
      handle.add(resource(uri, config, reader))
      return server
    },
    template: (uriTemplate, config, reader) => {
      handle.add(template(uriTemplate, config, reader))
      return server
    },
    prompt: (name, config, getter) => {
      handle.add(prompt(name, config, getter))
      return server
    },
    method: (name, config, handler) => {
      arrange({ ...setup, methods: withMethods([method(name, config, handler)]) })
      return server
    },
    use: (extension) => {
      use(extension)
      return server
    },
    handle: (call, context) => {
      const { loading } = ports.seal
      if (loading === undefined) return answer(call, context)
      const loaded = loading.catch(() => {})
      return loaded.then(() => answer(call, context))
    },
    owns: owned,
    describe: (principal) => {
      if (!isInUse) {
        isInUse = true
        attendToTasks()
      }
      describing ??= createDescriber(options, info, snapshot, setup)
      return describing(principal)
    },
    onChange: core.onChange,
    headerPlan: (name, principal) => findVisible(snapshot.tools, name, principal)?.headers,
  }
  scoped.set(server, () => Object.values(snapshot).some((shelf) => shelf.scoped))
  if (options.methods) arrange({ ...setup, methods: withMethods(options.methods) })
  for (const extension of options.extensions ?? []) use(extension)
  return server
}
