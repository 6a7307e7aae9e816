// Servers under test, each in a process of its own.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The path of a script in children/. */
export function childPath(name: string): string {
  return fileURLToPath(new URL(`children/${name}.mjs`, import.meta.url))
}

/** A server that listens on `port` and tells its CPU time. */
export interface Child {
  readonly port: number
  /** The CPU time that the process has used so far, in microseconds. */
  cpu(): Promise<number>
  tell(message: object): void
  stop(): Promise<void>
}

/** Starts children/`name`.mjs and waits until it listens. @throws if it ends instead */
export async function startChild(name: string, tools: number): Promise<Child> {
  const profile = process.env.BENCH_PROFILE === name ? ['--cpu-prof', '--cpu-prof-dir=.cache/profiles'] : []
  const process_ = fork(childPath(name), [String(tools)], { execArgv: profile })
  const { port } = await next<{ port: number }>(process_)
  return {
    port,
    async cpu() {
      process_.send({ ask: 'cpu' })
      return (await next<{ cpuMicros: number }>(process_)).cpuMicros
    },
    tell: (message) => void process_.send(message),
    async stop() {
      const gone = once(process_, 'exit')
      process_.send({ ask: 'stop' })
      await gone
    },
  }
}

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`A server under test ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as T)
    })
  })
}
