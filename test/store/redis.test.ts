import { redis } from '../../src/store/redis.ts'
import { storeContract, wallClock, type StoreUnderTest } from './contract.ts'
import { reachRedis } from './servers.ts'

const { url, missing } = reachRedis()

async function open(driver: 'ioredis' | 'redis'): Promise<StoreUnderTest> {
  const options = { url: url(), driver, prefix: `test:${process.pid}:` }
  const [store, other] = [redis(options), redis(options)]
  await Promise.all([store.get('connect'), other.get('connect')])
  return { store, other, ...wallClock }
}

storeContract('redis by ioredis', () => open('ioredis'), missing)
storeContract('redis by node-redis', () => open('redis'), missing)
