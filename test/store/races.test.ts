import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { postgresMissing, startPostgres } from '../../tools/postgres-server.ts'
import { redisMissing, startRedis } from '../../tools/redis-server.ts'
import type { TestServer } from '../../tools/server-process.ts'
import { raceContract } from './races.ts'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-races-'))
let redisServer: TestServer | undefined
let postgresServer: TestServer | undefined
before(async () => {
  if (redisMissing() === undefined) redisServer = await startRedis()
  if (postgresMissing() === undefined) postgresServer = await startPostgres()
})
after(async () => {
  await redisServer?.stop()
  await postgresServer?.stop()
  rmSync(folder, { recursive: true })
})

raceContract('sqlite', () => ({ kind: 'sqlite', path: join(folder, 'race.db') }))
for (const [database, driver] of ['ioredis', 'redis'].entries()) {
  const url = (): string => `${redisServer?.url ?? ''}/${database}`
  raceContract(
    `redis by ${driver}`,
    () => ({ kind: 'redis', url: url(), driver: driver === 'redis' ? 'redis' : 'ioredis' }),
    redisMissing(),
  )
}
raceContract(
  'postgres',
  () => ({ kind: 'postgres', connectionString: postgresServer?.url ?? '', schema: 'race' }),
  postgresMissing(),
)
