import type { JsonObject } from '../model/json.ts'
import type { CacheHints, Implementation } from '../model/nouns.ts'
import type { Clock, Logger, Random, Seal } from '../model/ports.ts'
import type { Served } from '../model/served.ts'
import type { Store } from '../model/store.ts'
import type { TaskLimits } from '../durable/tasks.ts'
import type { MethodConfig, MethodHandler, MethodValue } from './custom-method.ts'
import type { Extension } from './extension.ts'
import type { Middleware } from './middleware.ts'
import type { PromptArguments, PromptConfig, PromptGetter, PromptValue } from './prompt.ts'
import type {
  Reader,
  ResourceConfig,
  ResourceValue,
  TemplateConfig,
  TemplateReader,
  TemplateValue,
} from './resource.ts'
import type { ToolConfig, ToolHandler, ToolValue } from './tool.ts'
import type { AnySchema } from '../schema/schema.ts'

/** How what keyed calls came to is kept. */
export interface OnceOptions {
  /** Milliseconds that it is kept. Default 24 hours; what goes by a request's id 5 minutes. */
  readonly keepMs?: number
  /** Milliseconds after which a run whose process is silent counts as dead. Default 15,000. */
  readonly leaseMs?: number
  /** Calls of which it is kept at most; finished ones give way first, running ones never. Default 100,000. */
  readonly maxClaims?: number
  /** What a call is told whose key is running: a refusal, or, once it has ended, what it came to. Default `refuse`. */
  readonly whileRunning?: 'refuse' | 'join'
}

/** What a server declares besides what follows from what it offers. */
export interface CapabilityOptions {
  /** Experimental capabilities to declare, by name, beside the library's own. Default: none. */
  readonly experimental?: Readonly<Record<string, JsonObject>>
  /**
   * `false`: logging is not declared on any revision, `logging/setLevel` is no method, and `ctx.log` sends nothing.
   * Left out: it is.
   */
  readonly logging?: false
}

/** Anything that can be added to a server. */
export type Primitive = ToolValue | ResourceValue | TemplateValue | PromptValue

/** The kinds of list that a server has. */
export type ListKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

/** Who a server is, what it offers, and how it behaves. */
export interface ServerOptions extends Implementation {
  /** What a model should know to use this server well. */
  readonly instructions?: string
  readonly tools?: readonly ToolValue[]
  readonly resources?: readonly (ResourceValue | TemplateValue)[]
  readonly prompts?: readonly PromptValue[]
  /** Entries on one page of a list. Default 100. */
  readonly pageSize?: number
  /** How long lists may be kept. Default `ttlMs: 0`; `private` wherever a list depends on who asks, whatever is said here. */
  readonly cache?: Partial<Record<ListKind | 'discover', CacheHints>>
  /**
   * Replace the message of anything thrown that is not a `ToolError`, by tools, readers, getters and completers. Default
   * false: the message is carried, the stack never.
   */
  readonly maskErrors?: boolean
  /** Milliseconds that the state of an unanswered round stays good. Default 15 minutes. */
  readonly stateTtlMs?: number
  /** Rounds in which one call may ask its client, at most; then it ends with an error that the model can read. Default 20. */
  readonly maxRounds?: number
  /** Layers around operations, the first outermost. */
  readonly middleware?: readonly Middleware[]
  /** Methods that no revision defines, or that servers do not usually answer. */
  readonly methods?: readonly MethodValue[]
  /** Extensions to offer; each is off for a client that does not declare it. */
  readonly extensions?: readonly Extension[]
  /** What is declared otherwise than by what the server offers. */
  readonly capabilities?: CapabilityOptions
  /** How calls with a key are kept. */
  readonly once?: OnceOptions
  /** How tasks are kept, once a tool may run as one. */
  readonly tasks?: TaskLimits
  /** What the server reports to. Default: nothing is reported. */
  readonly logger?: Logger
}

/** What a server takes from outside itself; the composition root has defaults for each. */
export interface ServerPorts {
  readonly store: Store
  readonly seal: Seal
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** What came of a change: what was announced, and to how many peers on this process's doors. */
export interface Told {
  readonly kinds: readonly ('tools' | 'prompts' | 'resources' | 'resource')[]
  readonly peers: number
}

/** Changes of a live server, from anywhere, also from inside a handler. Calls in flight finish on what they started with. */
export interface ServerHandle {
  /**
   * Adds primitives, arrays of them, and what the marked methods of objects and classes are (`dragoman/decorators`).
   * @throws if one of the same name is there, or if one cannot be compiled, or nothing is marked; nothing is added then.
   */
  add(...added: readonly object[]): Told
  /** Removes what has this name (tool, prompt), URI or template; what is absent changes nothing. */
  remove(kind: Primitive['kind'], name: string): Told
  /** Puts a primitive in the place of the one with its name; adds it if there is none. */
  replace(primitive: Primitive): Told
  /** Announces that a list changed although the registry did not, say because what is visible did. */
  changed(kind: 'tools' | 'prompts' | 'resources'): Told
  /** Announces that the contents of a resource changed. */
  updated(uri: string): Told
}

/**
 * One server value: it binds nothing and spawns nothing; any number of transports serve it, on every revision. `Tools`
 * are those that its type knows of, for a typed client to read.
 */
export interface Server<Tools = unknown> extends Served, ServerHandle {
  /** For types only; never there. */
  readonly '~tools'?: Tools
  /** Adds one tool and returns the server, so that it chains. */
  tool<
    const Name extends string,
    const I extends AnySchema | undefined = undefined,
    const O extends AnySchema | undefined = undefined,
  >(
    name: Name,
    config: ToolConfig<I, O>,
    handler: ToolHandler<I, O>,
  ): Server<Tools | ToolValue<Name, I, O>>
  /** Adds one resource and returns the server. */
  resource(uri: string, config: ResourceConfig, reader?: Reader): Server<Tools>
  /** Adds one family of resources and returns the server. */
  template(uriTemplate: string, config: TemplateConfig, reader?: TemplateReader): Server<Tools>
  /** Adds one prompt and returns the server. */
  prompt<const A extends PromptArguments>(
    name: string,
    config: PromptConfig<A>,
    getter?: PromptGetter<A>,
  ): Server<Tools>
  /** Adds a method that no revision defines, or that servers do not usually answer. @throws if the name is taken */
  method<const P extends AnySchema | undefined = undefined>(
    name: string,
    config: MethodConfig<P>,
    handler?: MethodHandler<P>,
  ): Server<Tools>
  /** Puts an extension to use. @throws if it is already, or if one of its methods or primitives has a taken name */
  use(extension: Extension): Server<Tools>
}
