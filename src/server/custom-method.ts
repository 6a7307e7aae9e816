import { isObject, type JsonObject } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'
import type { Call } from '../model/call.ts'
import type { CallContext } from '../model/served.ts'
import { compileInput, type AnySchema, type CompiledSchema, type InferInput } from '../schema/schema.ts'
import type { Context } from './context.ts'
import type { Core } from './core.ts'
import { openRound, runHandler } from './run.ts'

/** A method that no revision defines, or that a server does not usually answer. */
export interface MethodConfig<P> {
  /** What the method takes. Left out: anything. */
  readonly params?: P
  /** The first and the last revision on which the method exists; both included. Default: all. */
  readonly revisions?: { readonly from?: string; readonly to?: string }
  /** Whether the method is on now; off answers as absent. Default: on. */
  readonly enabled?: boolean | (() => boolean)
  /** The extension it belongs to: only clients that declare it may call. */
  readonly extension?: string
  /** Who has to declare that extension. With `server`, every client may call that can see the declaration. Default `both`. */
  readonly declaredBy?: 'both' | 'server'
}

/** Answers a method of its own with a result object. */
export type MethodHandler<P> = (
  params: [P] extends [AnySchema] ? InferInput<P> : JsonObject,
  ctx: Context,
) => Promise<JsonObject> | JsonObject

/** A custom method as a value: what extensions bring. */
export interface MethodValue {
  readonly name: string
  readonly config: MethodConfig<AnySchema | undefined>
  /** Without one the method answers `InternalError`: on, but nothing behind it. */
  readonly handler: ((params: never, ctx: Context) => Promise<JsonObject> | JsonObject) | undefined
}

/** Declares a custom method. Its schema is compiled when it is added to a server. */
export function method<const P extends AnySchema | undefined = undefined>(
  name: string,
  config: MethodConfig<P>,
  handler?: MethodHandler<P>,
): MethodValue {
  return { name, config, handler }
}

/** A custom method made ready. */
export interface MethodEntry {
  readonly value: MethodValue
  readonly params: CompiledSchema | undefined
}

/** @throws an error that names the method and says what is wrong with it */
export function methodEntry(value: MethodValue): MethodEntry {
  try {
    const { params } = value.config
    return { value, params: params === undefined ? undefined : compileInput(params) }
  } catch (cause) {
    throw new Error(`method ${JSON.stringify(value.name)}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/** What peers settle before a server hears of anything, and what only servers ask. */
const reserved: readonly string[] = ['', 'initialize', 'server/discover', 'ping', 'roots/list', 'elicitation/create']
/** No request is named like a notification; JSON-RPC 2.0 keeps `rpc.` to itself. */
const reservedStart = /^(?:notifications\/|rpc\.)/

/** Whether a method never reaches a server, so that it cannot be one of its own. */
export function isReserved(name: string): boolean {
  return reserved.includes(name) || reservedStart.test(name)
}

/** Whether a peer on `revision` finds the method. Dates compare as texts. */
export function exists({ value: { config } }: MethodEntry, revision: string): boolean {
  const { from = '', to = revision } = config.revisions ?? {}
  const { enabled = true } = config
  return from <= revision && revision <= to && (typeof enabled === 'function' ? enabled() : enabled)
}

/** Answers a call of a custom method. @throws Refusal */
export async function callMethod(
  { value, params }: MethodEntry,
  call: Call,
  context: CallContext,
  core: Core,
): Promise<JsonObject> {
  const { extension, declaredBy = 'both' } = value.config
  if (extension !== undefined && declaredBy === 'both' && !context.features.has(`extensions.${extension}`)) {
    throw new Refusal('MissingClientCapability', {
      data: { requiredCapabilities: { extensions: { [extension]: {} } } },
    })
  }
  const { handler } = value
  if (!handler) throw new Refusal('InternalError', { cause: new Error(`${value.name} is on, but has no handler`) })
  const checked = params ? await params.validate(call.params) : { value: call.params }
  if (!('value' in checked)) throw new Refusal('MalformedParams')
  const run = { core, call, context, name: value.name, target: value.name }
  const outcome = await runHandler(run, await openRound(run), (ctx) => handler(checked.value as never, ctx))
  if ('asks' in outcome)
    throw new Refusal('InternalError', { cause: new Error('A custom method cannot ask the client in rounds') })
  if (isObject(outcome.value)) return outcome.value
  throw new Refusal('Unserializable', { cause: new TypeError(`${value.name} returned no object`) })
}
