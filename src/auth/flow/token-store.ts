/**
 * Where tokens and registrations are kept. Values are short JSON texts that hold secrets; keys are printable.
 * Both methods reject where the store cannot be used, and leave it as it was then.
 */
export interface TokenStore {
  get(key: string): Promise<string | undefined>
  /**
   * Puts `after` in the place of `before`, in one step, also against other processes: where something else is there by
   * now, nothing changes. `undefined` means that nothing is there. Resolves to whether the value was put.
   */
  swap(key: string, before: string | undefined, after: string | undefined): Promise<boolean>
}

/** A store that ends with the process. */
export function memoryTokens(): TokenStore {
  const values = new Map<string, string>()
  return {
    get: (key) => Promise.resolve(values.get(key)),
    swap(key, before, after) {
      if (values.get(key) !== before) return Promise.resolve(false)
      if (after === undefined) values.delete(key)
      else values.set(key, after)
      return Promise.resolve(true)
    },
  }
}

/** Puts `after` whatever is there. Resolves once it is. */
export async function putTokens(store: TokenStore, key: string, after: string | undefined): Promise<void> {
  for (;;) {
    const before = await store.get(key)
    if (before === after || (await store.swap(key, before, after))) return
  }
}
