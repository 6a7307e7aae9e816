// Server processes that are killed and started again, behind a proxy that goes round them and drops connections.
import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { build } from 'esbuild'
import { freePort } from '../tools/server-process.ts'
import type { ServerOrders } from './server.ts'

/** The processes, and the one door to all of them. */
export interface Fleet {
  readonly url: string
  /** Processes that ended, however. */
  readonly ended: number
  /** Connections that the proxy dropped. */
  readonly dropped: number
  /** Kills one of them, which is then started again. */
  killOne(): void
  /** From now on no connection is dropped any more. */
  calm(): void
  close(): Promise<void>
}

/** One connection in so many is dropped, within so many milliseconds. */
const drops = { oneIn: 12, withinMs: 60 }

/** Starts `size` processes, and one more that waits to take the place of one that dies. */
export async function startFleet(size: number, orders: Omit<ServerOrders, 'port'>): Promise<Fleet> {
  const script = await bundled()
  const ports = await Promise.all(Array.from({ length: size }, freePort))
  const children: (ChildProcess | undefined)[] = []
  let ended = 0
  let dropped = 0
  let dropping = true
  let closing = false
  let turn = 0
  let spare = prepare()
  let relaunching = Promise.resolve()

  /** A process that has loaded all it needs, and waits for orders. */
  function prepare(): Promise<ChildProcess> {
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
    const child = spawn(process.execPath, [script], { stdio: [...stdio] })
    return new Promise((resolve) => child.once('message', () => resolve(child)).once('exit', () => resolve(child)))
  }

  async function launch(at: number): Promise<void> {
    const child = await spare
    spare = prepare()
    children[at] = child
    child.once('exit', () => {
      if (closing) return
      ended += 1
      children[at] = undefined
      relaunching = relaunching.then(() => launch(at))
    })
    // It may be killed before it serves.
    const serving = new Promise((resolve) => child.once('message', resolve).once('exit', resolve))
    child.send({ ...orders, port: ports[at] ?? 0 })
    await serving
  }

  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect(ports[turn++ % size] ?? 0, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    if (!dropping || Math.random() * drops.oneIn > 1) return
    setTimeout(() => {
      if (near.destroyed) return
      dropped += 1
      near.destroy()
      far.destroy()
    }, Math.random() * drops.withinMs)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  for (const at of ports.keys()) await launch(at)

  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`, // it listens on a port
    get ended() {
      return ended
    },
    get dropped() {
      return dropped
    },
    killOne() {
      const living = children.filter((child) => child !== undefined)
      living[Math.floor(Math.random() * living.length)]?.kill('SIGKILL')
    },
    calm() {
      dropping = false
    },
    async close() {
      closing = true
      for (const child of [...children, await spare]) child?.kill('SIGKILL')
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
      rmSync(script, { force: true })
    },
  }
}

/** One file that starts fast, and stays as it is while the sources change. */
async function bundled(): Promise<string> {
  const outfile = resolve('.cache', `chaos-${process.pid}-${Date.now()}.mjs`)
  await build({
    entryPoints: ['chaos/server.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  })
  return outfile
}
