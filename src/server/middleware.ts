import type { Call, Operation, Operations } from '../model/call.ts'
import type { Layer } from '../model/compose.ts'
import type { JsonObject } from '../model/json.ts'
import type { CallContext } from '../model/served.ts'

/** A call of one operation. */
export interface CallOf<O extends Operation> extends Call {
  readonly method: O
  readonly params: Operations[O]['params'] & JsonObject
}

/** A layer around one operation, or around each of several. */
export type Around<O extends Operation> = Layer<CallOf<O>, CallContext, Operations[O]['result']>

/** The operations that answer with a list. */
export type ListOperation = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list'

/**
 * Layers around the operations of a server, by group. They are composed once, when the server is made: the first of a
 * server's middleware is outermost, and `all` stands outside the group's own layer.
 */
export interface Middleware {
  /** Around every operation, custom methods among them. */
  readonly all?: Layer<Call, CallContext, JsonObject>
  readonly call?: Around<'tools/call'>
  readonly read?: Around<'resources/read'>
  readonly get?: Around<'prompts/get'>
  readonly list?: Around<ListOperation>
  readonly complete?: Around<'completion/complete'>
  readonly listen?: Around<'subscriptions/listen'>
  /** Around methods that extensions and the server's user add. */
  readonly custom?: Layer<Call, CallContext, JsonObject>
}

/** The groups of middleware, by operation. Operations of no group have the layers of `all` only. */
export const groups: Readonly<Partial<Record<Operation, Exclude<keyof Middleware, 'all' | 'custom'>>>> = {
  'tools/call': 'call',
  'resources/read': 'read',
  'prompts/get': 'get',
  'tools/list': 'list',
  'resources/list': 'list',
  'resources/templates/list': 'list',
  'prompts/list': 'list',
  'completion/complete': 'complete',
  'subscriptions/listen': 'listen',
}

/** The layers of `middleware` that stand around an operation, outermost first. */
export function layersOf(middleware: readonly Middleware[], group: keyof Middleware | undefined): readonly AnyLayer[] {
  // Which group an operation belongs to says what its layers take; behind the table all calls look alike.
  return middleware.flatMap(
    (one) => [one.all, group && one[group]].filter((layer) => layer !== undefined) as AnyLayer[],
  )
}

/** A layer as the server's table holds it. */
export type AnyLayer = Layer<Call, CallContext, JsonObject>
