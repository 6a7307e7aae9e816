// Defends: a database that a test starts is its own, on a free port in a temporary folder, and goes with the test.
import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, chownSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A server that was started for a test. */
export interface TestServer {
  readonly url: string
  /** Ends the process at once, as a crash would. What it has stored stays. */
  kill(): Promise<void>
  /** Starts it again on the same port and folder, once it was killed. */
  restart(): Promise<void>
  /** Ends it for good and takes its folder away. */
  stop(): Promise<void>
}

/** How a server is run. */
export interface ServerProcess {
  readonly url: string
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  /** Whom it runs as; default: who runs the test. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** What ends it at once, and all it has started. */
  readonly crash: 'SIGKILL' | 'SIGQUIT'
  /** Rejects until the server answers. */
  answers(): Promise<void>
}

/** The first of `names` in `folders` or the path that can be run. */
export function findBinary(name: string, folders: readonly string[] = []): string | undefined {
  return [...folders, ...(process.env.PATH ?? '').split(delimiter)].map((folder) => join(folder, name)).find(canRun)
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A port of the loopback interface that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo // it listens on a port, not on a path
      server.close(() => resolve(port))
    })
  })
}

/** A folder that belongs to `user`. */
export function temporaryFolder(name: string, user?: { readonly uid: number; readonly gid: number }): string {
  const folder = mkdtempSync(join(tmpdir(), `dragoman-${name}-`))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  return folder
}

const running = new Map<ChildProcess, NodeJS.Signals>()
const killAll = (): void => running.forEach((signal, child) => child.kill(signal))
process.on('exit', killAll)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    killAll()
    process.kill(process.pid, signal)
  })
}

/** Starts a server and waits until it answers. @throws with what it printed, if it does not within 20 seconds */
export async function startServer(server: ServerProcess): Promise<TestServer> {
  let child = await launch(server)
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.ref()
      child.once('exit', () => resolve())
      child.kill(server.crash)
    })
  return {
    url: server.url,
    kill,
    async restart() {
      child = await launch(server)
    },
    async stop() {
      await kill()
      rmSync(server.folder, { recursive: true, force: true })
    },
  }
}

async function launch({ command, args, folder, user, crash, answers }: ServerProcess): Promise<ChildProcess> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], ...user })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  running.set(child, crash)
  child.once('exit', () => running.delete(child))
  child.unref()
  for (const stream of [child.stdout, child.stderr]) if ('unref' in stream) (stream as { unref(): void }).unref() // pipes are sockets
  const deadline = Date.now() + 20_000
  for (;;) {
    try {
      await answers()
      return child
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) {
        child.kill(crash)
        throw new Error(`${command} does not answer:\n${output}`, { cause: error })
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
