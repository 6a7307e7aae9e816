/** What is used of `node:crypto`. */
export type Crypto = typeof import('node:crypto')

let loaded: Crypto | undefined

/**
 * `node:crypto`, loaded when something is first sealed, drawn or digested: loading it takes as long as half of this
 * package, and many a process that imports that never needs it.
 */
export function nodeCrypto(): Crypto {
  return (loaded ??= process.getBuiltinModule('node:crypto'))
}
