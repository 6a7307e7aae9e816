import type { Random } from '../model/ports.ts'
import { nodeCrypto } from './crypto.ts'

const poolBytes = 4096

/**
 * Random bytes out of a pool, since asking the system costs as much for 12 of them as for 4,096. No byte is handed out
 * twice. What is kept keeps its pool, so take keys that live long from `randomBytes` itself.
 */
export function createRandom(): Random {
  let pool = Buffer.alloc(0)
  let used = 0
  return (length) => {
    if (length > poolBytes) return nodeCrypto().randomBytes(length)
    if (used + length > pool.length) {
      pool = nodeCrypto().randomBytes(poolBytes)
      used = 0
    }
    used += length
    return pool.subarray(used - length, used)
  }
}
