import type { CallToolResult } from '../../model/call.ts'
import { Refusal } from '../../model/refusal.ts'
import type { CallContext } from '../../model/served.ts'
import type { Middleware } from '../middleware.ts'
import { createDeadlines } from './deadlines.ts'
import { LimitedContext } from './limited-context.ts'

/** How long operations may take. */
export interface TimeoutOptions {
  /** Milliseconds that a call, read or get may take. Default 60,000. */
  readonly ms?: number
  /** Other limits, by tool; `Infinity` for none. */
  readonly tools?: Readonly<Record<string, number>>
}

/**
 * Ends what takes too long: the handler's signal is aborted, and the caller is answered at once, by a tool with a result
 * that the model can read. What a handler does after its signal is aborted is its own affair.
 */
export function timeouts({ ms = 60_000, tools = {} }: TimeoutOptions = {}): Middleware {
  const others = new Map(Object.entries(tools).map(([name, limit]) => [name, createLimit(limit)]))
  const usual = createLimit(ms)
  return {
    call: (call, context, next) => (others.get(call.params.name) ?? usual)(call, context, next, mustAnswer),
    read: (call, context, next) => usual(call, context, next, mustFinish),
    get: (call, context, next) => usual(call, context, next, mustFinish),
  }
}

function mustAnswer(ms: number): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `The tool did not finish within ${ms} ms` }] }
}

function mustFinish(ms: number): never {
  throw new Refusal('HandlerFailed', { message: `It did not finish within ${ms} ms`, ran: 'unknown' })
}

/** What `next` comes to, or once the time is up what `late` does. */
type Limit = <C, T>(
  call: C,
  context: CallContext,
  next: (call: C, context: CallContext) => Promise<T>,
  late: (ms: number) => T,
) => Promise<T>

function createLimit(ms: number): Limit {
  if (ms === Infinity) return (call, context, next) => next(call, context)
  const deadlines = createDeadlines(ms)
  return (call, context, next, late) => {
    const limited = new LimitedContext(context)
    // Not every layer is held to its type: one may answer at once.
    const running = Promise.resolve(next(call, limited))
    return new Promise((resolve, reject) => {
      const deadline = deadlines.start(() => {
        try {
          resolve(late(ms))
        } catch (refusal) {
          reject(refusal)
        }
        limited.end(new Error(`over the time limit of ${ms} ms`))
      })
      running.then(
        (result) => {
          deadlines.stop(deadline)
          resolve(result)
        },
        (thrown: unknown) => {
          deadlines.stop(deadline)
          reject(thrown)
        },
      )
    })
  }
}
