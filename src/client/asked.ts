import { CallFailed } from '../model/failure.ts'
import { isObject } from '../model/json.ts'
import type { AskRequest } from '../model/nouns.ts'

/** Questions of one server that may be open at once, live or in a result. */
export const maxAsks = 100

/**
 * The questions of a result, by their keys. @param inputRequests as the peer let them through
 * @throws CallFailed `ProtocolViolation` for more than {@link maxAsks}: each may be shown to a person
 */
export function asksIn(inputRequests: unknown): readonly (readonly [key: string, request: AskRequest])[] {
  const asked = Object.entries(isObject(inputRequests) ? inputRequests : {})
  if (asked.length > maxAsks)
    throw violation(`The server asks ${asked.length} questions at once, of ${maxAsks} at most`)
  return asked as unknown as readonly (readonly [string, AskRequest])[]
}

/** A server that wants a call made again has to say with what (2026-07-28, multi round-trip requests). @throws CallFailed `ProtocolViolation` */
export function mustAsk(asks: readonly unknown[], requestState: unknown): void {
  if (asks.length === 0 && requestState === undefined)
    throw violation('The server wants input, and says neither which nor what for')
}

function violation(message: string): CallFailed {
  return new CallFailed('ProtocolViolation', { ran: 'unknown', message })
}
