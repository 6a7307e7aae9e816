import { reconnectDelay, type RedisConnect } from './redis-connection.ts'

/** A client of the package ioredis, or its cluster: a pattern of connections, never used itself. */
export interface IoredisClient {
  readonly status: string
  readonly isCluster: boolean
  duplicate(...overrides: never[]): unknown
}

/** What is used of a client of ioredis. */
interface Connection {
  call(command: string, ...args: readonly string[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'ready' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  disconnect(): void
}

/** What the package has. */
export interface IoredisModule {
  readonly Redis: new (url: string, options: object) => unknown
}

// A command is sent once and at once, or not at all: one that is sent again could find its own first effect.
const sendOnce = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 }

/** Connects as `client` does, or to a URL. */
export function connectIoredis(
  source: { readonly client: IoredisClient } | { readonly url: string; readonly module: IoredisModule },
  connectTimeout: number,
): RedisConnect {
  const options = {
    ...sendOnce,
    lazyConnect: false,
    autoResubscribe: false,
    connectTimeout,
    retryStrategy: reconnectDelay,
    keepAlive: 10_000,
  }
  return ({ ready, down, message }) => {
    // The shape of a known package; its own types are not at hand where it is not installed.
    const connection = open(source, options) as Connection
    connection.on('ready', ready)
    connection.on('close', () => down(undefined))
    connection.on('error', down)
    connection.on('message', message)
    return {
      command: ([name = '', ...args]) => connection.call(name, ...args),
      async subscribe(channel) {
        await connection.subscribe(channel)
      },
      async unsubscribe(channel) {
        await connection.unsubscribe(channel)
      },
      end: () => connection.disconnect(),
    }
  }
}

function open(source: Parameters<typeof connectIoredis>[0], options: object): unknown {
  if ('url' in source) return new source.module.Redis(source.url, options)
  const { client } = source
  if (!client.isCluster) return duplicate(client, options)
  const cluster = {
    lazyConnect: false,
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectDelay,
    redisOptions: options,
  }
  return duplicate(client, [], cluster)
}

function duplicate(client: IoredisClient, ...overrides: readonly unknown[]): unknown {
  return client.duplicate(...(overrides as never[])) // the client's own types say what these are
}
