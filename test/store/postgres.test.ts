import { migratePostgres } from '../../src/store/postgres-migrate.ts'
import { postgres } from '../../src/store/postgres.ts'
import { storeContract, wallClock, type StoreUnderTest } from './contract.ts'
import { reachPostgres } from './servers.ts'

const { url, missing } = reachPostgres()
const schema = `test_${process.pid}`
let migrated: Promise<unknown> | undefined

async function open(): Promise<StoreUnderTest> {
  migrated ??= migratePostgres({ connectionString: url(), schema })
  await migrated
  const options = { connectionString: url(), schema, timeoutMs: 5000 }
  const [store, other] = [postgres(options), postgres(options)]
  await Promise.all([store.get('connect'), other.get('connect')])
  return { store, other, ...wallClock }
}

storeContract('postgres', open, missing)
