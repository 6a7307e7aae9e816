import { CallFailed } from '../model/failure.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'

/**
 * Looks whether `member` of a result is the list that its type says, which is the server's word until then.
 * @throws CallFailed `InvalidResult`
 */
export function mustList(result: JsonObject, member: string, holds: (entry: Json) => boolean): void {
  const list = own(result, member)
  if (Array.isArray(list) && list.every((entry: Json) => holds(entry))) return
  throw new CallFailed('InvalidResult', { ran: 'yes', message: `The server answered with ${member} that are none` })
}

/** Whether `entry` can be a block of content: of whatever type, and with its text where that is one of text. */
export function isBlock(entry: Json): boolean {
  if (!isObject(entry) || typeof entry.type !== 'string') return false
  return entry.type !== 'text' || typeof entry.text === 'string'
}

/** Whether `entry` can be a message of a prompt. */
export function isMessage(entry: Json): boolean {
  return isObject(entry) && typeof entry.role === 'string' && isBlock(entry.content ?? null)
}

/** Whether `entry` can be the contents of a resource. */
export function isContents(entry: Json): boolean {
  return isObject(entry) && typeof entry.uri === 'string' && ['string', 'undefined'].includes(typeof entry.text)
}
