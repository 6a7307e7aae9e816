import { reconnectDelay, type RedisConnect } from './redis-connection.ts'

/** A client of the package redis: a pattern of connections, never used itself. */
export interface NodeRedisClient {
  readonly isReady: boolean
  duplicate(...overrides: never[]): unknown
}

/** What is used of a client of redis. */
interface Connection {
  connect(): Promise<unknown>
  sendCommand(args: readonly string[]): Promise<unknown>
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  on(event: 'ready' | 'end', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  destroy?(): unknown
  disconnect?(): Promise<unknown>
}

/** What the package has. */
export interface NodeRedisModule {
  createClient(options: object): unknown
}

/** Connects as `client` does, or to a URL. */
export function connectNodeRedis(
  source: { readonly client: NodeRedisClient } | { readonly url: string; readonly module: NodeRedisModule },
  connectTimeout: number,
): RedisConnect {
  const base = 'url' in source ? { url: source.url } : {}
  const socket = { connectTimeout, reconnectStrategy: reconnectDelay }
  const options = { ...base, disableOfflineQueue: true, socket }
  return ({ ready, down, message }) => {
    // The shape of a known package; its own types are not at hand where it is not installed.
    const connection = open(source, options) as Connection
    const heard = (text: string, channel: string): void => message(channel, text)
    connection.on('ready', ready)
    connection.on('error', down)
    connection.on('end', () => down(undefined))
    // It goes on trying; what goes wrong meanwhile is told as an error.
    connection.connect().catch(down)
    return {
      command: (args) => connection.sendCommand(args),
      async subscribe(channel) {
        await connection.subscribe(channel, heard)
      },
      async unsubscribe(channel) {
        await connection.unsubscribe(channel)
      },
      end() {
        try {
          if (connection.destroy !== undefined) connection.destroy()
          else connection.disconnect?.().catch(() => {})
        } catch {
          // It says so when it is not connected just then, and ends all the same.
        }
      },
    }
  }
}

function open(source: Parameters<typeof connectNodeRedis>[0], options: object): unknown {
  if ('url' in source) return source.module.createClient(options)
  const { client } = source
  const own = 'options' in client && typeof client.options === 'object' ? client.options : undefined
  return client.duplicate({ ...options, socket: { ...socketOf(own), ...socketOf(options) } } as never) // the client's own types say what this is
}

function socketOf(options: object | null | undefined): object {
  if (!options || !('socket' in options) || typeof options.socket !== 'object') return {}
  return options.socket ?? {}
}
