import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { connect, type Client, type ClientOptions } from '../../src/client.ts'
import { serveHttp } from '../../src/index.ts'
import { connectInMemory } from '../../src/memory.ts'
import { serveSocket } from '../../src/socket.ts'
import { memoryTarget } from '../../src/transport/dial/target.ts'
import { everything } from './everything.ts'
import { revisions } from './support.ts'

/** A client and the server that was started for it. */
export interface Met extends AsyncDisposable {
  readonly client: Client
}

/** One transport, with a server at its other end. */
export interface Way {
  readonly name: string
  /** The revisions that it carries. */
  readonly carries: readonly string[]
  /** Serves `served` revisions, and connects. */
  connect(served: readonly string[], options: ClientOptions): Promise<Met>
}

/** Connects to a server over HTTP, at the path of either transport. */
export async function overHttp(path: string, served: readonly string[], options: ClientOptions): Promise<Met> {
  const server = await serveHttp(everything(), { port: 0, revisions: served })
  return meet(
    () => connect(new URL(path, server.url), options),
    () => server.close(),
  )
}

/** Connects, and lets go of the server with the client, or where there is none. */
async function meet(dial: () => Promise<Client>, close: () => Promise<void> = async () => {}): Promise<Met> {
  try {
    const client = await dial()
    return {
      client,
      async [Symbol.asyncDispose]() {
        await client.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

let program: string | undefined

/**
 * The server process in one file, so that it starts as soon as the runtime does. It lies in the repository, since that is
 * where its packages are.
 */
function serverProgram(): string {
  if (program !== undefined) return program
  const outfile = fileURLToPath(new URL(`../../.cache/client-server-${process.pid}.mjs`, import.meta.url))
  process.once('exit', () => rmSync(outfile, { force: true }))
  buildSync({
    entryPoints: [fileURLToPath(new URL('./server-process.ts', import.meta.url))],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  })
  program = outfile
  return program
}

let sockets = 0

/** Every transport that there is. */
export const ways: readonly Way[] = [
  {
    name: 'memory',
    carries: revisions,
    connect: (served, options) =>
      meet(() =>
        connect(
          memoryTarget(() => connectInMemory(everything(), { revisions: served })),
          options,
        ),
      ),
  },
  { name: 'http', carries: revisions, connect: (served, options) => overHttp('/mcp', served, options) },
  {
    name: 'http+sse',
    carries: revisions.slice(0, 4),
    connect: (served, options) => overHttp('/sse', served, { ...options, http: { transports: ['http+sse'] } }),
  },
  {
    name: 'socket',
    carries: revisions,
    async connect(served, options) {
      const path = join(tmpdir(), `dragoman-client-${process.pid}-${++sockets}.sock`)
      const server = await serveSocket(everything(), { path, revisions: served })
      return meet(
        () => connect(`unix:${path}`, options),
        () => server.close(),
      )
    },
  },
  {
    name: 'stdio',
    carries: revisions,
    connect(served, options) {
      const args = [serverProgram(), ...served]
      // The process takes longer to start than anybody stays silent who is there.
      return meet(() => connect({ command: process.execPath, args }, { ...options, silenceMs: 100 }))
    },
  },
]
