import { CallFailed, isFailure } from './failure.ts'
import type { JsonObject } from './json.ts'
import { isRefusal, Refusal, type Ran } from './refusal.ts'

/**
 * `error`, but that the call may have run: something of it had reached the server, whatever became of the last request.
 * @param data what is told beside the data that it has
 */
export function asUnknown(error: CallFailed, data?: JsonObject): CallFailed
export function asUnknown(error: unknown, data?: JsonObject): unknown
export function asUnknown(error: unknown, data?: JsonObject): unknown {
  if (!isFailure(error) || (error.ran !== 'no' && data === undefined)) return error
  const all = data === undefined ? error.data : { ...error.data, ...data }
  if (error.ran === 'no') return toldAnew(error, 'unknown', error, all)
  // What is only told more of has the cause that it had.
  return toldAnew(error, error.ran, error.cause ?? error, all)
}

/** The same failure, told with another word on whether the call ran, another cause, and other data. */
export function toldAnew(
  error: Refusal | CallFailed,
  ran: Ran,
  cause: unknown,
  data: JsonObject | undefined,
): Refusal | CallFailed {
  const { message, retryAfter } = error
  const details = { ran, message, cause, ...(data && { data }), ...(retryAfter !== undefined && { retryAfter }) }
  if (!isRefusal(error))
    return new CallFailed(error.kind, { ...details, ...(error.status !== undefined && { status: error.status }) })
  const { code, challenge } = error
  return new Refusal(error.kind, {
    ...details,
    ...(code !== undefined && { code }),
    ...(challenge !== undefined && { challenge }),
  })
}
