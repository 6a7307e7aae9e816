import type { JsonObject } from '../model/json.ts'
import type { MethodValue } from './custom-method.ts'
import type { Middleware } from './middleware.ts'
import type { Primitive, ServerHandle } from './server.ts'

/**
 * An extension as a value (specification, "Extensions"): handed to `server.use`, off unless both sides declare it.
 */
export interface Extension {
  /** A `_meta` key with its mandatory prefix, say `io.modelcontextprotocol/ui`. */
  readonly identifier: string
  /** What the server declares under the identifier. Default `{}`: on, with nothing to say. */
  readonly settings?: JsonObject
  readonly methods?: readonly MethodValue[]
  readonly primitives?: readonly Primitive[]
  readonly middleware?: Middleware
  /** Called once, when the extension is put to use. */
  readonly start?: (server: ServerHandle) => void
}

const label = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const identifierForm = new RegExp(`^${label}(?:\\.${label})*/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)

/** @throws if `identifier` is not a `_meta` key with a prefix (specification, "Extensions") */
export function checkIdentifier(identifier: string): void {
  if (!identifierForm.test(identifier)) {
    throw new TypeError(`${JSON.stringify(identifier)} is no identifier of an extension: a prefix, a slash and a name`)
  }
}
