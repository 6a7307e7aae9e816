import type { SealPurpose } from '../model/ports.ts'
import { nodeCrypto } from './crypto.ts'

/** Bytes of a key, as AES-256 takes them. */
export const keyBytes = 32

/** Bytes by which sealed text names its key. */
export const keyIdBytes = 4

/** One key of a ring: its name, and the keys derived from it. */
export interface RingKey {
  /** Tells nothing of the key. */
  readonly id: Uint8Array
  /** The key for one purpose, so that text sealed for another cannot even be opened by mistake. */
  derive(purpose: SealPurpose): Uint8Array
}

/** Prepares a key. Throws a `RangeError` unless it has 32 bytes. */
export function toRingKey(key: Uint8Array): RingKey {
  if (key.length !== keyBytes) throw new RangeError(`A key has ${keyBytes} bytes, not ${key.length}`)
  const master = Uint8Array.from(key)
  const derived = new Map<SealPurpose, Uint8Array>()
  return {
    id: nodeCrypto().createHash('sha256').update(hkdf(master, 'id')).digest().subarray(0, keyIdBytes),
    derive(purpose) {
      const known = derived.get(purpose)
      if (known !== undefined) return known
      const fresh = hkdf(master, `seal ${purpose}`)
      derived.set(purpose, fresh)
      return fresh
    },
  }
}

function hkdf(master: Uint8Array, label: string): Uint8Array {
  return new Uint8Array(nodeCrypto().hkdfSync('sha256', master, new Uint8Array(0), `dragoman ${label}`, keyBytes))
}
