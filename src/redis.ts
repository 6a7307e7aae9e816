/** Keeps everything in Redis, through a client of `ioredis` or `redis`. */
export { redis } from './store/redis.ts'
export type { RedisClient, RedisStoreOptions } from './store/redis.ts'
export type { IoredisClient } from './store/redis-ioredis.ts'
export type { NodeRedisClient } from './store/redis-node-redis.ts'
