import { isObject } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'
import { StoreUnavailable } from '../model/store-unavailable.ts'
import { isAnswer, type RedisLink } from './redis-link.ts'

const setting = 'proto-max-bulk-len'
/** Bytes that Redis takes of one text, whatever it was told; and what it takes unless it was told otherwise. */
const least = 1024 * 1024
const usual = 512 * 1024 * 1024

/**
 * Sees to it that a text is not longer than Redis takes: it breaks the connection over such a one, with all that is under
 * way there. Asks for the bound only where it can matter, anew each time since it may be changed.
 * @returns nothing to wait for where it certainly is not @throws Refusal `StoreFull`; StoreUnavailable
 */
export function mustBeTaken(text: string, link: RedisLink): Promise<void> | undefined {
  // No unit of a text takes more than three bytes.
  if (text.length <= least / 3) return undefined
  const bytes = Buffer.byteLength(text)
  return bytes <= least ? undefined : mustFit(bytes, link)
}

async function mustFit(bytes: number, link: RedisLink): Promise<void> {
  if (bytes > (await longest(link))) throw new Refusal('StoreFull')
}

async function longest(link: RedisLink): Promise<number> {
  try {
    const reply = await link.command('CONFIG', 'GET', setting)
    // An object where the connection speaks RESP3.
    const told = isObject(reply) ? reply[setting] : Array.isArray(reply) ? (reply[1] as unknown) : undefined
    return Number(told) || usual
  } catch (error) {
    // Who may not ask goes by what is usual.
    if (isAnswer(error)) return usual
    // Nothing but the question was sent.
    throw error instanceof StoreUnavailable ? new StoreUnavailable(error.message, { cause: error }) : error
  }
}
