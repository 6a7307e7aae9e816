import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { raceContract } from './races.ts'
import { reachPostgres, reachRedis } from './servers.ts'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-races-'))
after(() => rmSync(folder, { recursive: true }))
const redis = reachRedis()
const postgres = reachPostgres()

raceContract('sqlite', () => ({ kind: 'sqlite', path: join(folder, 'race.db') }))
for (const driver of ['ioredis', 'redis'] as const) {
  const prefix = `race:${process.pid}:${driver}:`
  raceContract(`redis by ${driver}`, () => ({ kind: 'redis', url: redis.url(), driver, prefix }), redis.missing)
}
raceContract(
  'postgres',
  () => ({ kind: 'postgres', connectionString: postgres.url(), schema: `race_${process.pid}` }),
  postgres.missing,
)
