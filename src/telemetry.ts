/** OpenTelemetry for servers. Wants the package `@opentelemetry/api`; nothing else of this library loads it. */
import * as api from '@opentelemetry/api'
import { createCodecs } from './codec/registry.ts'
import { toWire } from './codec/refuse.ts'
import type { RefusalProfile } from './codec/codec.ts'
import type { Middleware } from './server/middleware.ts'
import { telemetryOver, type TelemetryOptions as ProviderOptions } from './server/middleware/telemetry.ts'

/** Where spans and measurements go, and how the doors of the server refuse. */
export interface TelemetryOptions extends ProviderOptions {
  /** The codes that peers with a handshake are refused with, as the doors have it. Default `spec`. */
  readonly refusals?: RefusalProfile
}

const codecs = createCodecs()

/**
 * A layer that gives every operation a server span and a measurement of `mcp.server.operation.duration`, by
 * OpenTelemetry's semantic conventions for MCP. Put it first: it sees what stands within.
 */
export function telemetry({ refusals = 'spec', ...providers }: TelemetryOptions = {}): Middleware {
  return telemetryOver(
    api,
    (refusal, { method }, revision) => toWire(refusal, codecs.get(revision) ?? codecs.newest, refusals, method).error,
    providers,
  )
}
