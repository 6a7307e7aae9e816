/** Keeps everything in Redis, through a client of `ioredis` or `redis`. */
export { redis } from './store/redis.ts'
export type { RedisClient, RedisStoreOptions } from './store/redis.ts'
