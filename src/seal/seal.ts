import { isObject } from '../model/json.ts'
import type { JsonObject } from '../model/json.ts'
import type { Clock, Random, Seal, SealPurpose } from '../model/ports.ts'
import { nodeCrypto } from './crypto.ts'
import { keyBytes, keyIdBytes, toRingKey } from './key.ts'

/** What a seal is made of. */
export interface SealOptions {
  /** Keys of 32 bytes, the newest first: it seals, all of them open. Replacing a key means putting another before it. */
  readonly keys: readonly Uint8Array[]
  /** Tells when text expires. Default: `Date.now`. */
  readonly clock?: Clock
  /** Makes the nonces. Default: `randomBytes` of `node:crypto`. */
  readonly random?: Random
}

/** A key for {@link createSeal}: 32 bytes that nobody can guess. */
export function randomKey(random: Random = systemRandom): Uint8Array {
  return random(keyBytes)
}

const systemRandom: Random = (length) => nodeCrypto().randomBytes(length)

const algorithm = 'aes-256-gcm'
const format = 1
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + keyIdBytes
const bodyStart = headBytes + nonceBytes

/**
 * Makes a {@link Seal} out of AES-256-GCM.
 *
 * Sealed text is base64url of: one byte for the format, the key's id, the nonce, the encrypted JSON of
 * `[expiry, value]`, the tag. Format, key id and purpose are authenticated beside it. Nonces are random, so a key
 * should be replaced before it has sealed 2^32 texts (NIST SP 800-38D, §8.3). Throws a `RangeError` for a ring that is
 * empty or has a key of another length.
 */
export function createSeal(options: SealOptions): Seal {
  const { clock = Date.now, random = systemRandom } = options
  const ring = options.keys.map(toRingKey)
  const newest = ring[0]
  if (newest === undefined) throw new RangeError('A seal needs at least one key')
  const head = Buffer.concat([Buffer.of(format), newest.id])

  return {
    seal(purpose, value, expiresAt) {
      const nonce = random(nonceBytes)
      const cipher = nodeCrypto().createCipheriv(algorithm, newest.derive(purpose), nonce)
      cipher.setAAD(associated(head, purpose))
      const body = cipher.update(JSON.stringify([expiresAt, value]), 'utf8')
      return Buffer.concat([head, nonce, body, cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    open(purpose, text) {
      const bytes = Buffer.from(text, 'base64url')
      // Node decodes leniently; one sealed value must have one text only.
      if (bytes.length < bodyStart + tagBytes || bytes.toString('base64url') !== text) return undefined
      if (bytes[0] !== format) return undefined
      const id = bytes.subarray(1, headBytes)
      for (const key of ring) {
        if (!id.equals(key.id)) continue
        const plain = decrypt(bytes, key.derive(purpose), purpose)
        if (plain !== undefined) return unlessExpired(plain, clock())
      }
      return undefined
    },
  }
}

function associated(head: Uint8Array, purpose: SealPurpose): Uint8Array {
  return Buffer.concat([head, Buffer.from(purpose, 'utf8')])
}

function decrypt(bytes: Buffer, key: Uint8Array, purpose: SealPurpose): string | undefined {
  const tagStart = bytes.length - tagBytes
  const nonce = bytes.subarray(headBytes, bodyStart)
  const decipher = nodeCrypto().createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(associated(bytes.subarray(0, headBytes), purpose))
  decipher.setAuthTag(bytes.subarray(tagStart))
  try {
    return decipher.update(bytes.subarray(bodyStart, tagStart), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

function unlessExpired(plain: string, now: number): JsonObject | 'expired' | undefined {
  const content: unknown = JSON.parse(plain)
  if (!Array.isArray(content)) return undefined
  const [expiresAt, value]: unknown[] = content
  if (typeof expiresAt !== 'number' || !isObject(value)) return undefined
  return now < expiresAt ? value : 'expired'
}
