import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrateCommand } from '../../src/cli/migrate.ts'
import { postgres } from '../../src/store/postgres.ts'
import { reachPostgres } from '../store/servers.ts'

const { url, missing } = reachPostgres()

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<{ code: number; text: string }> {
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  return { code: await migrateCommand(args, { env, out: print, err: print }), text: lines.join('\n') }
}

test('it makes the tables once, and a store works on them', { skip: missing }, async () => {
  const schema = `cli_${process.pid}`
  assert.deepEqual(await run(['--url', url(), '--schema', schema]), {
    code: 0,
    text: `${schema} went from version 0 to 1`,
  })
  assert.deepEqual(await run(['--schema', schema], { DATABASE_URL: url() }), {
    code: 0,
    text: `${schema} is up to date, at version 1`,
  })
  const store = postgres({ connectionString: url(), schema })
  assert.notEqual(await store.put('a', 'b'), undefined)
  await store.close()
})

test('it says why it could not', async () => {
  const { code, text } = await run(['--url', 'postgres://127.0.0.1:1/none'])
  assert.equal(code, 1)
  assert.match(text, /ECONNREFUSED/)
  assert.equal((await run(['--url', 'postgres://127.0.0.1:1/none', '--schema', 'a"b'])).code, 1)
})

test('it says how it is used', async () => {
  assert.equal((await run([])).code, 2)
  assert.equal((await run(['--nonsense'])).code, 2)
  const help = await run(['--help'])
  assert.equal(help.code, 0)
  assert.match(help.text, /--schema/)
})
