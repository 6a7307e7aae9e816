// Defends: a gate talks to a server it started itself, on a port nobody else uses, and leaves no process behind.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** A server process that prints its URL first. */
export interface Fixture extends AsyncDisposable {
  readonly url: URL
}

/** Starts `command --http PORT …args` and waits, at most 60 s, for the URL on its first line. */
export async function startFixture(command: string, args: readonly string[] = []): Promise<Fixture> {
  const line = [command, '--http', String(await freePort()), ...args].join(' ')
  const child = spawn(line, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    await ended
  }
  const first = await Promise.race([firstLine(child.stdout), ended, timeout(60_000)])
  if (first === undefined || !URL.canParse(first)) {
    await stop()
    throw new Error(`\`${line}\` did not print a URL first, but ${first ?? 'nothing'}`)
  }
  return { url: new URL(first), [Symbol.asyncDispose]: stop }
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  const lines = createInterface({ input: stream })
  const line = await new Promise<string>((resolve) => lines.once('line', resolve))
  lines.on('line', () => {}) // what follows is read, so that the process never waits for a reader
  return line
}

function timeout(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined).unref())
}

/** A port of 127.0.0.1 that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
