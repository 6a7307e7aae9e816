import type { Call } from '../model/call.ts'
import { compose, type Layer } from '../model/compose.ts'
import type { JsonObject } from '../model/json.ts'
import type { RequestOptions } from './options.ts'
import type { JobFacts } from './sending.ts'

/** What surrounds one request of a client. */
export interface ClientContext {
  readonly options: RequestOptions
  /** What the client itself knows of the request; to be handed on. */
  readonly facts: JobFacts
}

/** One layer around what a client sends. `call.meta` is what goes into `_meta` besides what the protocol wants there. */
export type ClientLayer = Layer<Call, ClientContext, JsonObject>

/**
 * Layers by what they stand around, as on a server: `all` outside the group's own. A layer sees a request once, with its
 * rounds and repetitions inside, and may change it, answer it, or do it again; of a list it sees each page.
 */
export interface ClientMiddleware {
  readonly all?: ClientLayer
  readonly call?: ClientLayer
  readonly read?: ClientLayer
  readonly get?: ClientLayer
  readonly list?: ClientLayer
  readonly complete?: ClientLayer
  readonly custom?: ClientLayer
}

const groups: Readonly<Record<string, Exclude<keyof ClientMiddleware, 'all' | 'custom'>>> = {
  'tools/call': 'call',
  'resources/read': 'read',
  'prompts/get': 'get',
  'tools/list': 'list',
  'resources/list': 'list',
  'resources/templates/list': 'list',
  'prompts/list': 'list',
  'completion/complete': 'complete',
}

type Send = (call: Call, context: ClientContext) => Promise<JsonObject>

/** Puts the layers around `core`, once for each group. */
export function layered(middleware: readonly ClientMiddleware[], core: Send): Send {
  if (middleware.length === 0) return core
  const composed = new Map<string, Send>()
  return (call, context) => {
    const group = Object.hasOwn(groups, call.method) ? (groups[call.method] ?? 'custom') : 'custom'
    const known = composed.get(group)
    if (known) return known(call, context)
    const layers = middleware.flatMap((one) => [one.all, one[group]].filter((layer) => layer !== undefined))
    const fresh = compose(layers, core)
    composed.set(group, fresh)
    return fresh(call, context)
  }
}
