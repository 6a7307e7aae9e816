import { connectTo } from './client/connect.ts'
import type { Client } from './client/client.ts'
import type { ClientOptions } from './client/options.ts'
import { createCodecs, type Codecs } from './codec/registry.ts'
import type { Target } from './peer/link.ts'

/** Every published revision; compiled for the first client, so that importing this costs little. */
let published: Codecs | undefined

/**
 * Connects to a server, whatever its age, and agrees with it on a revision. `connect<typeof server>(…)` knows the
 * server's own tools.
 * @throws CallFailed, Refusal; TypeError for a revision that is not known
 */
export function connect<S = unknown>(target: Target, options: ClientOptions = {}): Promise<Client<S>> {
  published ??= createCodecs()
  return connectTo<S>(target, options, { codecs: published, clock: Date.now })
}

export { CallFailed, isCallFailed, isFailure } from './model/failure.ts'
export { isRefusal, Refusal } from './model/refusal.ts'
export type { Client } from './client/client.ts'
export type { ClientOptions } from './client/options.ts'
