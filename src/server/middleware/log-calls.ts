import { isRefusal } from '../../model/refusal.ts'
import { own, type JsonObject } from '../../model/json.ts'
import type { Call } from '../../model/call.ts'
import type { CallContext } from '../../model/served.ts'
import { guarded, type Logger } from '../../model/ports.ts'
import type { Middleware } from '../middleware.ts'
import { quoted } from '../visibility.ts'

/** Where calls are logged. */
export interface LogCallsOptions {
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

/** One structured line per operation: what, for whom, how long, how it ended. Peers' texts stand in it escaped and cut. */
export function logCalls({ logger: given, clock = Date.now }: LogCallsOptions): Middleware {
  const logger = guarded(given)
  const line = (call: Call, context: CallContext, began: number, outcome: string): void =>
    logger.info('call', {
      method: call.method,
      target: targetOf(call),
      revision: context.revision,
      principal: context.principal?.id,
      client: context.client && quoted(context.client.name),
      ms: clock() - began,
      outcome,
    })
  return {
    all: (call, context, next) => {
      const began = clock()
      // Not every layer is held to its type: one may answer at once.
      return Promise.resolve(next(call, context)).then(
        (result) => {
          line(call, context, began, outcomeOf(result))
          return result
        },
        (thrown: unknown) => {
          line(call, context, began, isRefusal(thrown) ? thrown.kind : 'InternalError')
          throw thrown
        },
      )
    },
  }
}

function outcomeOf(result: JsonObject | null | undefined): string {
  // A layer that comes to nothing; whoever encodes the answer refuses it.
  if (result === undefined || result === null) return 'InternalError'
  if (own(result, 'isError') === true) return 'isError'
  return typeof result.resultType === 'string' ? result.resultType : 'complete'
}

/** The tool, prompt or URI of a call, as it may stand in a log. */
function targetOf({ params }: Call): string | undefined {
  const target = own(params, 'name') ?? own(params, 'uri')
  return typeof target === 'string' ? quoted(target) : undefined
}
