// Defends: tests speak to a real Redis.
import { connect } from 'node:net'
import { findBinary, freePort, startServer, temporaryFolder, type TestServer } from './server-process.ts'

/** Why there is no Redis to start, or undefined. */
export function redisMissing(): string | undefined {
  return binary() === undefined ? 'no redis-server on this machine; apt-get install redis-server' : undefined
}

/**
 * Starts a Redis that keeps what it is told over a crash.
 * @param options.cluster it is a cluster of one: it holds scripts to one slot
 */
export async function startRedis(options: { readonly cluster?: boolean } = {}): Promise<TestServer> {
  const port = await freePort()
  const folder = temporaryFolder('redis')
  const cluster = [
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
    '--cluster-config-file',
    `${folder}/nodes.conf`,
    '--cluster-port',
  ]
  const server = await startServer({
    url: `redis://127.0.0.1:${port}`,
    command: binary() ?? 'redis-server',
    args: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'no'],
      ...(options.cluster ? [...cluster, String(await freePort())] : []),
    ],
    folder,
    crash: 'SIGKILL',
    answers: async () => {
      const answer = await tell(port, 'PING')
      if (!answer.startsWith('+PONG')) throw new Error(answer)
    },
  })
  if (options.cluster) await formCluster(port)
  return server
}

function binary(): string | undefined {
  return findBinary('redis-server') ?? findBinary('valkey-server')
}

async function formCluster(port: number): Promise<void> {
  await tell(port, 'CLUSTER ADDSLOTSRANGE 0 16383')
  while (!(await tell(port, 'CLUSTER INFO')).includes('cluster_state:ok')) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Sends one inline command. @returns the first part of the answer */
function tell(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.setTimeout(2000, () => socket.destroy(new Error('no answer')))
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      resolve(chunk.toString())
      socket.destroy()
    })
  })
}
