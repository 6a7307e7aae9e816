import type { Change } from '../model/notification.ts'
import type { Operation, Operations } from '../model/call.ts'
import type { Call } from '../model/call.ts'
import type { Claims } from '../durable/claims.ts'
import type { Tasks } from '../durable/tasks.ts'
import type { CallContext } from '../model/served.ts'
import type { Snapshot } from './registry.ts'
import type { ServerHandle, ServerOptions, ServerPorts } from './server.ts'

/** What the methods of a server share. */
export interface Core {
  readonly options: ServerOptions
  readonly ports: ServerPorts
  readonly handle: ServerHandle
  readonly claims: Claims
  readonly tasks: Tasks
  /** What is registered now. A call reads it once and finishes on what it read. */
  snapshot(): Snapshot
  /** Tells of a change; returns how many peers heard of it. */
  tell(change: Change): number
  onChange(listener: (change: Change) => number | void): () => void
  /** Warns about a deprecated feature, once for the server's life. */
  deprecated(feature: string): void
  /** Warns, once for the server's life and for these fields. */
  warnOnce(message: string, fields: Readonly<Record<string, string>>): void
}

/** How a server answers one operation. */
export type Method<O extends Operation> = (
  params: Operations[O]['params'],
  context: CallContext,
  core: Core,
  call: Call,
) => Promise<Operations[O]['result']>
