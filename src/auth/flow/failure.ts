import { CallFailed, isCallFailed } from '../../model/failure.ts'
import type { JsonObject } from '../../model/json.ts'

/** What is said of missing credentials beside the message. */
export interface UnauthorizedDetails {
  /** The status that the server answered with. */
  readonly status?: number
  readonly data?: JsonObject
  readonly cause?: unknown
}

/** No credentials can be had, and why. */
export function unauthorized(message: string, details: UnauthorizedDetails = {}): CallFailed {
  return new CallFailed('Unauthorized', { ran: 'no', message, ...details })
}

/** A server that authorization needs did not answer; another try may do better. */
export function unreachable(message: string, cause?: unknown): CallFailed {
  return new CallFailed('Unreachable', { ran: 'no', message, cause })
}

/** `error` as a failure that names `what` was being done. */
export function toFailure(error: unknown, what: string): CallFailed {
  if (isCallFailed(error)) return error
  return unauthorized(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
}

/** What another side said, fit to be part of a message: one line, 200 characters at most. */
export function quoted(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
}
