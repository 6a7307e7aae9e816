import type { JsonObject } from './json.ts'
import { isRefusal, type Ran, type Refusal } from './refusal.ts'

/**
 * The ways in which a call fails without an answer that refuses it.
 *
 * - `Unreachable`: no connection could be made.
 * - `ConnectionLost`: the way to the server broke before the answer came.
 * - `TimedOut`: the answer did not come in time.
 * - `Cancelled`: the caller's signal was aborted, or the client closed.
 * - `HttpStatus`: the server, or something before it, answered with an HTTP status and no message.
 * - `Unauthorized`: no credentials could be had that the server takes.
 * - `NoCommonRevision`: the two sides share no revision of the protocol.
 * - `ProtocolViolation`: what the server sent breaks the protocol.
 * - `InvalidResult`: a result does not fit the output schema that its tool declares.
 * - `TooLarge`: an answer is larger than the client takes.
 * - `TooManyRounds`: the server goes on asking for input.
 * - `CircuitOpen`: the server failed too often of late; nothing was sent.
 * - `ServerExited`: the process behind a command ended. Its message has the last of what it wrote on standard error, without
 *   traces; `data` is `{ code, signal, stderr }`, with the last 50 lines.
 */
export type FailureKind =
  | 'Unreachable'
  | 'ConnectionLost'
  | 'TimedOut'
  | 'Cancelled'
  | 'HttpStatus'
  | 'Unauthorized'
  | 'NoCommonRevision'
  | 'ProtocolViolation'
  | 'InvalidResult'
  | 'TooLarge'
  | 'TooManyRounds'
  | 'CircuitOpen'
  | 'ServerExited'

/** What is known of a failure beside its kind. */
export interface FailureDetails {
  /** Whether the call behind it ran. */
  readonly ran: Ran
  readonly message?: string
  /** HTTP status. */
  readonly status?: number
  /** Seconds to wait before another try, as the server said. */
  readonly retryAfter?: number
  readonly data?: JsonObject
  readonly cause?: unknown
}

/** A call that came to no answer. What the server itself refused is a {@link Refusal}. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  readonly kind: FailureKind
  readonly ran: Ran
  readonly status: number | undefined
  readonly retryAfter: number | undefined
  readonly data: JsonObject | undefined

  constructor(kind: FailureKind, { message, cause, ...details }: FailureDetails) {
    super(message ?? kind, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.ran = details.ran
    this.status = details.status
    this.retryAfter = details.retryAfter
    this.data = details.data
  }
}

/** Whether `error` is a {@link CallFailed}, also one of another copy of this package. */
export function isCallFailed(error: unknown): error is CallFailed {
  return error instanceof Error && error.name === 'CallFailed' && 'kind' in error
}

/** Whether `error` is what a call of a client rejects with: both kinds say in `ran` whether the call ran. */
export function isFailure(error: unknown): error is Refusal | CallFailed {
  return isRefusal(error) || isCallFailed(error)
}
