import { after, before } from 'node:test'
import { migratePostgres } from '../../src/store/postgres-migrate.ts'
import { postgres } from '../../src/store/postgres.ts'
import { postgresMissing, startPostgres } from '../../tools/postgres-server.ts'
import type { TestServer } from '../../tools/server-process.ts'
import { storeContract, wallClock, type StoreUnderTest } from './contract.ts'

const given = process.env.DRAGOMAN_TEST_POSTGRES_URL
const missing = given === undefined ? postgresMissing() : undefined
const schema = `test_${process.pid}`
let server: TestServer | undefined
const url = (): string => given ?? server?.url ?? ''

before(async () => {
  if (missing !== undefined) return
  if (given === undefined) server = await startPostgres()
  await migratePostgres({ connectionString: url(), schema })
})
after(() => server?.stop())

async function open(): Promise<StoreUnderTest> {
  const options = { connectionString: url(), schema, timeoutMs: 5000 }
  const [store, other] = [postgres(options), postgres(options)]
  await Promise.all([store.get('connect'), other.get('connect')])
  return { store, other, ...wallClock }
}

storeContract('postgres', open, missing)
