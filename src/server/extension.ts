import type { Feature } from '../model/feature.ts'
import type { JsonObject } from '../model/json.ts'
import type { MethodValue } from './custom-method.ts'
import type { AnyLayer, Middleware } from './middleware.ts'
import type { Primitive, ServerHandle } from './server.ts'

/**
 * An extension as a value (specification, "Extensions"): handed to `server.use`, off unless both sides declare it. Its
 * methods and its middleware are for clients for which it is on; its primitives are for everybody, and those that are
 * not say so by `needs: ['extensions.…']` or ask `ctx.can`.
 */
export interface Extension {
  /** A `_meta` key with its mandatory prefix, say `io.modelcontextprotocol/ui`. */
  readonly identifier: string
  /** What the server declares under the identifier. Default `{}`: on, with nothing to say. */
  readonly settings?: JsonObject
  readonly methods?: readonly MethodValue[]
  /** What the server declares beside `extensions`, to everybody. What it declares of itself goes before it, member by member. */
  readonly capabilities?: JsonObject
  readonly primitives?: readonly Primitive[]
  /** Around the calls of clients for which the extension is on. */
  readonly middleware?: Middleware
  /** Around all calls, outside {@link Extension.middleware}: say for what other clients are to get instead. */
  readonly always?: Middleware
  /** Called once, when the extension is put to use. */
  readonly start?: (server: ServerHandle) => void
}

const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const identifierForm = new RegExp(`^${label}(?:\\.${label})*/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)

/** What an extension puts around operations, outermost first. */
export function middlewareOf({ identifier, always, middleware }: Extension): readonly Middleware[] {
  return [...(always ? [always] : []), ...(middleware ? [whereOn(`extensions.${identifier}`, middleware)] : [])]
}

function whereOn(feature: Feature, middleware: Middleware): Middleware {
  const guarded = (layer: AnyLayer): AnyLayer => {
    return (call, context, next) => (context.features.has(feature) ? layer(call, context, next) : next(call, context))
  }
  // Each layer stays around the operations that it was around; which those are makes no difference to whether it runs.
  const layers = Object.entries(middleware) as readonly (readonly [string, AnyLayer | undefined])[]
  return Object.fromEntries(layers.flatMap(([group, layer]) => (layer ? [[group, guarded(layer)]] : [])))
}

/** @throws if the extension declares extensions */
export function checkCapabilities({ identifier, capabilities = {} }: Extension): void {
  if (Object.hasOwn(capabilities, 'extensions')) {
    throw new TypeError(`${identifier} declares extensions; what it declares under its identifier are its settings`)
  }
}

/** @throws if `identifier` is not a `_meta` key with a prefix (specification, "Extensions") */
export function checkIdentifier(identifier: string): void {
  if (!identifierForm.test(identifier)) {
    throw new TypeError(`${JSON.stringify(identifier)} is no identifier of an extension: a prefix, a slash and a name`)
  }
}
