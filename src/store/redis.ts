import { Refusal } from '../model/refusal.ts'
import type { LogPage, Store } from '../model/store.ts'
import { createBus } from './bus.ts'
import { createChannels } from './channels.ts'
import { never, toExpiry } from './expiry.ts'
import type { RedisConnect } from './redis-connection.ts'
import { connectIoredis, type IoredisClient } from './redis-ioredis.ts'
import { redisKeys } from './redis-keys.ts'
import { createRedisLink } from './redis-link.ts'
import { mustBeTaken } from './redis-longest.ts'
import { connectNodeRedis, type NodeRedisClient } from './redis-node-redis.ts'
import { appendScript, deleteScript, listScript, putInGroupScript, putScript, readScript } from './redis-scripts.ts'
import { evictionRank } from './rooms.ts'

/** A client of ioredis, its cluster, or a client of redis. The store makes connections of its own like it. */
export type RedisClient = IoredisClient | NodeRedisClient

/** Which Redis keeps things, and under which names. */
export interface RedisStoreOptions {
  /** As in `redis://user:password@host:6379/0`. Either this or `client`. */
  readonly url?: string
  readonly client?: RedisClient
  /** The package that connects to `url`. Default: `ioredis`, else `redis`, whichever is installed. */
  readonly driver?: 'ioredis' | 'redis'
  /** What every key and channel begins with; without braces. Default `dragoman:`. */
  readonly prefix?: string
  /** Milliseconds that a call takes at most. Default 2,000. */
  readonly timeoutMs?: number
}

/**
 * A store in Redis 6.2 or later, for any number of processes. It connects with the first call, by two connections of its
 * own that keep the process alive until the store is closed; while they are down, calls reject.
 * @throws if neither a URL nor a client is given, or the prefix has a brace
 */
export function redis(where: RedisStoreOptions | RedisClient): Store {
  const options: RedisStoreOptions = 'duplicate' in where ? { client: where } : where
  const { prefix = 'dragoman:', timeoutMs = 2000 } = options
  if (options.url === undefined && options.client === undefined) throw new TypeError('redis() needs a url or a client')
  if (/[{}]/.test(prefix)) throw new TypeError('The prefix of redis() may not have braces')
  const keys = redisKeys(prefix)
  const bus = createBus()
  const link = createRedisLink(() => connector(options, timeoutMs), timeoutMs, {
    message: (channel, text) => bus.publish(keys.channelOf(channel), text),
    reconnected: () => void listenAgain(),
  })
  const channels = createChannels(bus, {
    subscribe: (channel) => link.subscribe(keys.channel(channel)),
    unsubscribe: (channel) => link.unsubscribe(keys.channel(channel)),
  })

  async function listenAgain(): Promise<void> {
    try {
      await Promise.all(bus.channels().map((channel) => link.subscribe(keys.channel(channel))))
      bus.missed()
    } catch {
      // Lost again: it comes back again.
    }
  }

  return {
    durable: true,
    async get(key) {
      const [value, version] = texts(await link.command('HMGET', keys.value(key), 'v', 'n'))
      return value === undefined || version === undefined ? undefined : { value, version: Number(version) }
    },
    async put(key, value, { ifVersion = '', expiresAt, maxInGroup = '', evict = 'never' } = {}) {
      const asked = mustBeTaken(value, link)
      if (asked !== undefined) await asked
      const sets = keys.setsOf(key)
      const args = [value, String(ifVersion), whole(expiresAt)]
      const version =
        sets.length === 0
          ? await link.run(putScript, [keys.value(key)], args)
          : await link.run(
              putInGroupScript,
              [keys.value(key), ...sets],
              [...args, key, String(maxInGroup), String(evictionRank[evict])],
            )
      if (version === 'full') throw new Refusal('StoreFull')
      return version === null || version === undefined ? undefined : Number(version)
    },
    async delete(key, ifVersion) {
      const names = [keys.value(key), ...keys.setsOf(key)]
      return Number(await link.run(deleteScript, names, [key, String(ifVersion ?? '')])) > 0
    },
    async list(group, { after, limit = 100 } = {}) {
      const { all, base } = keys.group(group)
      const flat = texts(
        await link.run(listScript, [all], [base, after === undefined ? '-' : `(${after}`, String(limit)]),
      )
      return Array.from({ length: flat.length / 3 }, (_, at) => {
        const [key = '', value = '', version] = flat.slice(3 * at, 3 * at + 3)
        return { key, value, version: Number(version) }
      })
    },
    async append(log, value, { maxEntries, maxBytes = '', maxAgeMs = '', expiresAt }) {
      const asked = mustBeTaken(value, link)
      if (asked !== undefined) await asked
      const bounds = [String(Math.max(1, maxEntries)), String(maxBytes), String(maxAgeMs), String(toExpiry(expiresAt))]
      return Number(await link.run(appendScript, [keys.log(log)], [value, ...bounds]))
    },
    async read(log, after) {
      return toPage(await link.run(readScript, [keys.log(log)], [String(after + 1)]))
    },
    async publish(channel, message) {
      await link.command('PUBLISH', keys.channel(channel), message)
    },
    subscribe: (channel, listener, missed) => channels.subscribe(channel, listener, missed),
    async close() {
      bus.clear()
      link.close()
    },
  }
}

async function connector({ url, client, driver }: RedisStoreOptions, timeoutMs: number): Promise<RedisConnect> {
  if (client !== undefined) {
    return 'status' in client ? connectIoredis({ client }, timeoutMs) : connectNodeRedis({ client }, timeoutMs)
  }
  if (driver !== 'redis') {
    const module = await import('ioredis').catch((error: unknown) => absent(error, driver))
    if (module !== undefined) return connectIoredis({ url: url ?? '', module }, timeoutMs)
  }
  const module = await import('redis').catch((error: unknown) => absent(error, driver ?? 'ioredis'))
  if (module === undefined) throw new Error('No driver for Redis')
  return connectNodeRedis({ url: url ?? '', module }, timeoutMs)
}

/** Passes over a package that is not installed, unless it is the one that has to be. */
function absent(error: unknown, needed: string | undefined): undefined {
  const isAbsent = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
  if (!isAbsent) throw error
  if (needed !== undefined) throw new Error(`No driver for Redis. Install one, as in: npm install ${needed}`)
}

/** Whole milliseconds, or nothing. */
function whole(expiresAt: number | undefined): string {
  const until = toExpiry(expiresAt)
  return until === never ? '' : String(until)
}

function texts(reply: unknown): readonly (string | undefined)[] {
  return Array.isArray(reply) ? reply.map((item: unknown) => (typeof item === 'string' ? item : undefined)) : []
}

/** @param reply the id of the oldest entry, and the entries: each its id, and name and text of its fields */
function toPage(reply: unknown): LogPage {
  const [oldest, found]: readonly unknown[] = Array.isArray(reply) ? reply : []
  if (typeof oldest !== 'string' || oldest === '' || !Array.isArray(found)) return { entries: [], evictedThrough: 0 }
  const entries = found.map((entry: unknown) => {
    const [id, fields]: readonly unknown[] = Array.isArray(entry) ? entry : []
    return { sequence: sequenceOf(String(id)), value: texts(fields)[1] ?? '' }
  })
  return { entries, evictedThrough: sequenceOf(oldest) - 1 }
}

function sequenceOf(id: string): number {
  return Number(id.slice(0, id.indexOf('-')))
}
