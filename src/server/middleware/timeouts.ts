import { Refusal } from '../../model/refusal.ts'
import type { CallContext } from '../../model/served.ts'
import { timerMs } from '../../model/timer.ts'
import type { Middleware } from '../middleware.ts'
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
  const limits = new Map(Object.entries(tools))
  return {
    call: async (call, context, next) => {
      const limit = limits.get(call.params.name) ?? ms
      const answer = await within(limit, context, (inner) => next(call, inner))
      if (answer !== late) return answer
      return { isError: true, content: [{ type: 'text', text: `The tool did not finish within ${limit} ms` }] }
    },
    read: (call, context, next) => orRefuse(ms, context, (inner) => next(call, inner)),
    get: (call, context, next) => orRefuse(ms, context, (inner) => next(call, inner)),
  }
}

const late = Symbol('late')

async function orRefuse<T>(ms: number, context: CallContext, run: (context: CallContext) => Promise<T>): Promise<T> {
  const answer = await within(ms, context, run)
  if (answer === late)
    throw new Refusal('HandlerFailed', { message: `It did not finish within ${ms} ms`, ran: 'unknown' })
  return answer
}

function within<T>(
  ms: number,
  context: CallContext,
  run: (context: CallContext) => Promise<T>,
): Promise<T | typeof late> {
  if (ms === Infinity) return run(context)
  const limited = new LimitedContext(context)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      resolve(late)
      limited.end(new Error(`over the time limit of ${ms} ms`))
    }, timerMs(ms))
    run(limited)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
