import { CallFailed, isFailure } from '../model/failure.ts'
import { isRefusal, Refusal } from '../model/refusal.ts'

/** `error`, which ended connecting, as whoever waits for the connection is told it: nothing of what they want was sent. */
export function asUnsent(error: unknown): unknown {
  if (!isFailure(error) || error.ran === 'no') return error
  const { message, data, retryAfter } = error
  const details = {
    ran: 'no' as const,
    message,
    cause: error,
    ...(data && { data }),
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
