import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { lock, type HeldLock } from './file-lock.ts'
import { parseObject } from './json.ts'
import type { TokenStore } from './token-store.ts'

/**
 * A store in one file that only its owner can read (mode 0600, its folder 0700 where it is made), shared by every
 * process of that user. It is written anew beside itself and renamed, so it is never half there, and under a lock, so
 * nothing gets lost. The secrets in it are not encrypted. Both methods reject where the file holds anything else, and
 * where another process keeps the lock for 5 s.
 */
export function fileTokens(path: string): TokenStore {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }
  return {
    get: async (key) => (await readAll(path)).get(key),
    swap: (key, before, after) =>
      inTurn(async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        const held = await lock(`${path}.lock`)
        try {
          const values = await readAll(path)
          if (values.get(key) !== before) return false
          if (after === undefined) values.delete(key)
          else values.set(key, after)
          return await replace(path, values, held)
        } finally {
          await held.release()
        }
      }),
  }
}

async function readAll(path: string): Promise<Map<string, string>> {
  let text: string
  try {
    // Others may have been let in by a copy or a restore: shut them out before secrets are used again.
    if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
  const values = parseObject(text)
  if (values === undefined || !Object.values(values).every((value) => typeof value === 'string'))
    throw new Error(`${path} does not hold tokens; move it away to begin anew`)
  return new Map(Object.entries(values as Readonly<Record<string, string>>))
}

async function replace(path: string, values: ReadonlyMap<string, string>, held: HeldLock): Promise<boolean> {
  const beside = `${path}.${randomUUID()}`
  try {
    const file = await open(beside, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(Object.fromEntries(values), null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    if (!(await held.isHeld())) return false
    await rename(beside, path)
    return true
  } finally {
    await rm(beside, { force: true })
  }
}
