import { after, before } from 'node:test'
import { redis } from '../../src/store/redis.ts'
import { redisMissing, startRedis } from '../../tools/redis-server.ts'
import type { TestServer } from '../../tools/server-process.ts'
import { storeContract, wallClock, type StoreUnderTest } from './contract.ts'

const given = process.env.DRAGOMAN_TEST_REDIS_URL
const missing = given === undefined ? redisMissing() : undefined
let server: TestServer | undefined
before(async () => {
  if (given === undefined && missing === undefined) server = await startRedis()
})
after(() => server?.stop())

async function open(driver: 'ioredis' | 'redis'): Promise<StoreUnderTest> {
  const options = { url: given ?? server?.url ?? '', driver, prefix: `test:${process.pid}:` }
  const [store, other] = [redis(options), redis(options)]
  await Promise.all([store.get('connect'), other.get('connect')])
  return { store, other, ...wallClock }
}

storeContract('redis by ioredis', () => open('ioredis'), missing)
storeContract('redis by node-redis', () => open('redis'), missing)
