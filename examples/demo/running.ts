import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Loss } from '../../src/index.ts'
import { reportLosses } from './visitor.ts'

const start = fileURLToPath(new URL('../start.ts', import.meta.url))

/** The command that runs the library on a database. */
export function commandFor(database: string, ...how: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, '--import', import.meta.resolve('tsx'), start, '--database', database, ...how]
}

export interface Running {
  readonly url: URL
  /** What its clients lost so far. */
  readonly losses: readonly Loss[]
  stop(): Promise<void>
}

/** Runs the library over HTTP in a process of its own, on any free port. */
export async function runOverHttp(database: string): Promise<Running> {
  const [command, ...args] = commandFor(database, '--port', '0')
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...reportLosses } })
  const log = collectLosses()
  process.once('exit', () => child.kill())
  child.stderr.on('data', (chunk) => log.add(String(chunk)))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const [first] = await Promise.race([
    new Promise<[string]>((resolve) => createInterface(child.stdout).once('line', (line) => resolve([line]))),
    ended.then(() => []),
  ])
  if (first === undefined) throw new Error(`The library did not start: ${log.text()}`)
  return {
    url: new URL(first),
    losses: log.losses,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Picks the losses out of what a library writes to standard error. */
export function collectLosses(): { add(text: string): void; readonly losses: readonly Loss[]; text(): string } {
  const losses: Loss[] = []
  const other: string[] = []
  let pending = ''
  return {
    losses,
    text: () => [...other, pending].join('\n'),
    add(text) {
      const lines = (pending + text).split('\n')
      pending = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith('{"loss":')) losses.push(JSON.parse(line).loss)
        else other.push(line)
      }
    },
  }
}
