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
