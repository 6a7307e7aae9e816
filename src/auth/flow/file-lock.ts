import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** A lock that is held. */
export interface HeldLock {
  /** Whether it is still ours: after a long sleep another process may have taken it. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** Milliseconds after which a lock counts as left behind, far beyond what its holder takes. */
const staleMs = 10_000
const waitMs = 5_000

/** Takes the lock that the file `path` is. @throws Error where another process keeps it for 5 s */
export async function lock(path: string): Promise<HeldLock> {
  const own = `${process.pid} ${randomUUID()}`
  for (const until = Date.now() + waitMs; ;) {
    if (await create(path, own)) return { isHeld: async () => (await textOf(path)) === own, release: () => release() }
    await breakStale(path)
    if (Date.now() > until) throw new Error(`${path} is held by another process`)
    await sleep(5 + Math.random() * 20)
  }

  async function release(): Promise<void> {
    if ((await textOf(path)) === own) await rm(path, { force: true })
  }
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that is gone. One that was taken anew in the meantime is put back. */
async function breakStale(path: string): Promise<void> {
  const [text, age] = [await textOf(path), await ageOf(path)]
  if (text === undefined || age === undefined || (age < staleMs && isAlive(text))) return
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch {
    return
  }
  if ((await textOf(aside)) !== text) await link(aside, path).catch(() => undefined)
  await rm(aside, { force: true })
}

function isAlive(text: string): boolean {
  const pid = Number.parseInt(text, 10)
  // A lock that is empty is just being written.
  if (!(pid > 0)) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const textOf = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined)

const ageOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => undefined,
  )
