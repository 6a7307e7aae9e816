import { isObject, own, type JsonObject } from '../../model/json.ts'
import { CallFailed } from '../../model/failure.ts'
import type { LinkListener } from '../../peer/link.ts'
import type { Caps } from '../../wire/caps.ts'
import { parseJson } from '../../wire/json.ts'

/** Characters of what was skipped that are told. */
const maxNoise = 1_024

const ignore = (): void => {}

/**
 * Hands the messages that one text carries to `take`: one, or those of a batch.
 * @param tooLarge told before it returns where the text is over a cap, with what becomes of the request that it answers
 * @returns `false` where the text is no message, or not all of a batch is: something was skipped
 */
export function readMessages(
  input: Uint8Array | string,
  caps: Caps,
  take: (message: JsonObject) => void,
  tooLarge: (failure: CallFailed) => void = ignore,
): boolean {
  const { value, refusal, isOverCap = false } = parseJson(input, caps)
  if (isOverCap) tooLarge(refusal?.kind === 'BodyTooLarge' ? tooLargeFailure(caps) : tooMuchFailure(caps))
  if (!Array.isArray(value)) {
    if (!isMessage(value)) return false
    take(value)
    return true
  }
  const found = value.filter(isMessage)
  found.forEach(take)
  return found.length === value.length && found.length > 0
}

/** A program may print JSON of its own on the same channel; only what names the protocol is a message. */
function isMessage(value: unknown): value is JsonObject {
  return isObject(value) && own(value, 'jsonrpc') === '2.0'
}

/** Tells of something that was skipped, cut to what a listener takes. */
export function tellNoise(
  listener: Pick<LinkListener, 'noise'> | undefined,
  from: 'stdout' | 'stderr' | 'stream',
  skipped: Uint8Array | string,
): void {
  if (listener?.noise === undefined) return
  const text = typeof skipped === 'string' ? skipped : Buffer.from(skipped.subarray(0, 4 * maxNoise)).toString('utf8')
  listener.noise(from, text.slice(0, maxNoise))
}

/** Whether `message` answers the request `id`: a result or an error under that very id. */
export function answers(message: JsonObject, id: string | number): boolean {
  return own(message, 'id') === id && own(message, 'method') === undefined
}

/** Whether `message` is an error without an id, which on a response of its own can only mean the request. */
export function isErrorWithoutId(message: JsonObject): boolean {
  return (message.id ?? null) === null && isObject(own(message, 'error') ?? null)
}

/** What becomes of a request whose answer is larger than is taken. */
export function tooLargeFailure({ maxMessageBytes }: Caps): CallFailed {
  const message = `the server sent more than the ${maxMessageBytes} bytes that are taken of one answer`
  return new CallFailed('TooLarge', { ran: 'unknown', message })
}

/** The same where it is not its bytes. */
function tooMuchFailure({ maxValues, maxKeys, maxDepth }: Caps): CallFailed {
  const taken = `${maxValues} values (maxValues), ${maxKeys} keys (maxKeys), ${maxDepth} levels (maxDepth)`
  const message = `the server sent an answer with more in it than is taken: ${taken}`
  return new CallFailed('TooLarge', { ran: 'unknown', message })
}
