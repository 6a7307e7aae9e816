import { CallFailed, isFailure } from './failure.ts'
import type { JsonObject } from './json.ts'
import { isRefusal, Refusal } from './refusal.ts'

/**
 * `error`, but that the call may have run: something of it had reached the server, whatever became of the last request.
 * @param data what is told beside the data that it has
 */
export function asUnknown(error: CallFailed, data?: JsonObject): CallFailed
export function asUnknown(error: unknown, data?: JsonObject): unknown
export function asUnknown(error: unknown, data?: JsonObject): unknown {
  if (!isFailure(error) || (error.ran !== 'no' && data === undefined)) return error
  const { message, retryAfter } = error
  const all = data === undefined ? error.data : { ...error.data, ...data }
  const details = {
    ran: error.ran === 'no' ? ('unknown' as const) : error.ran,
    message,
    // What is only told more of has the cause that it had.
    cause: error.ran === 'no' ? error : (error.cause ?? error),
    ...(all && { data: all }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
  if (!isRefusal(error))
    return new CallFailed(error.kind, { ...details, ...(error.status !== undefined && { status: error.status }) })
  const { code, challenge } = error
  return new Refusal(error.kind, {
    ...details,
    ...(code !== undefined && { code }),
    ...(challenge !== undefined && { challenge }),
  })
}
