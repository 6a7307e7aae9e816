import { lock } from './file-lock.ts'
import type { TokenStore } from './token-store.ts'

/** The functions of a keychain, or of any other place for secrets. */
export interface Keychain {
  /** Resolves to nothing where there is nothing. */
  get(key: string): Promise<string | null | undefined>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<unknown>
}

/** How the keychain is shared. */
export interface KeychainOptions {
  /**
   * Path of a file that processes lock while they write, which makes writing safe between them. Without it, writing is
   * safe within this process only: keychains cannot compare and swap.
   */
  readonly lockFile?: string
}

/** A store in a keychain, reached by three functions. */
export function keychainTokens(keychain: Keychain, { lockFile }: KeychainOptions = {}): TokenStore {
  let turn: Promise<unknown> = Promise.resolve()
  const get = async (key: string): Promise<string | undefined> => (await keychain.get(key)) ?? undefined
  const swap = async (key: string, before: string | undefined, after: string | undefined): Promise<boolean> => {
    const held = lockFile === undefined ? undefined : await lock(lockFile)
    try {
      if ((await get(key)) !== before) return false
      if (after !== undefined) await keychain.set(key, after)
      else if (before !== undefined) await keychain.delete(key)
      return true
    } finally {
      await held?.release()
    }
  }
  return {
    get,
    swap(key, before, after) {
      const result = turn.then(() => swap(key, before, after))
      turn = result.catch(() => undefined)
      return result
    },
  }
}
