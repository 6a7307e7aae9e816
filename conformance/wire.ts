// Defends: the wire behaves byte for byte as a folder of outside checks wants it, on every revision, transport and store.
// The folder is not part of this repository: DRAGOMAN_WIRE names it, by default ../shared/wire. Without it, nothing is checked, and that is said.
//   npm run conformance:wire                            every case, on each of the four stores
//   npm run conformance:wire -- --store redis --only X  one store; the rest goes to the runner of the checks
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startFixture } from '../tools/fixture.ts'
import { postgresMissing, startPostgres } from '../tools/postgres-server.ts'
import { redisMissing, startRedis } from '../tools/redis-server.ts'
import type { TestServer } from '../tools/server-process.ts'
import { wireExclusions } from './wire-exceptions.ts'

const folder = process.env['DRAGOMAN_WIRE'] ?? '../shared/wire'
const runner = join(folder, 'run.mjs')
if (!existsSync(runner)) {
  console.log(`\n*** NOT CHECKED: there are no wire checks in ${folder} (set DRAGOMAN_WIRE) ***\n`)
  process.exit(0)
}

/** The databases that fixtures on a store need: one for all fixtures, since the checks start many. */
const databases: Readonly<
  Record<string, { readonly variable: string; missing(): string | undefined; start(): Promise<TestServer> }>
> = {
  redis: { variable: 'DRAGOMAN_TEST_REDIS_URL', missing: redisMissing, start: startRedis },
  postgres: { variable: 'DRAGOMAN_TEST_POSTGRES_URL', missing: postgresMissing, start: startPostgres },
}

const [given, ...rest] = takeStore(process.argv.slice(2))
let failures = 0
for (const store of given === undefined ? ['memory', 'sqlite', 'redis', 'postgres'] : [given])
  failures += await withDatabase(store, () => check(store, rest))
process.exitCode = failures > 0 ? 1 : 0

/** The store that the arguments name, and the other arguments. */
function takeStore(args: readonly string[]): readonly [string | undefined, ...string[]] {
  const at = args.indexOf('--store')
  return at < 0 ? [undefined, ...args] : [args[at + 1], ...args.slice(0, at), ...args.slice(at + 2)]
}

/** Runs with the database that `store` needs, which is started unless the environment names one. */
async function withDatabase(store: string, run: () => Promise<number>): Promise<number> {
  const database = databases[store]
  if (database === undefined || process.env[database.variable] !== undefined) return run()
  const missing = database.missing()
  if (missing !== undefined) {
    console.log(`*** NOT CHECKED on ${store}: ${missing} ***`)
    return 1
  }
  const server = await database.start()
  process.env[database.variable] = server.url
  try {
    return await run()
  } finally {
    delete process.env[database.variable]
    await server.stop()
  }
}

/** Asks every check of fixtures on `store`. @returns how much is wrong */
async function check(store: string, more: readonly string[]): Promise<number> {
  const command = `npm run -s fixture:wire -- --store ${store}`
  await using fixture = await startFixture(command)
  const sse = new URL('/sse', fixture.url).href
  const args = [runner, '--http', fixture.url.href, '--sse', sse, '--stdio', `${command} --stdio`, ...more]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })

  const passed = new Set<string>()
  const failed = new Map<string, string[]>()
  let detail: string[] | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    const [, verdict, name = ''] = /^(ok {2}|FAIL) (.*)$/.exec(line) ?? []
    if (verdict === 'FAIL') failed.set(name, (detail = []))
    else if (verdict !== undefined) passed.add(name)
    else if (line.startsWith('     ')) detail?.push(line)
  }
  const excluded = [...failed.keys()].filter((name) => Object.hasOwn(wireExclusions, name))
  const unexpected = [...failed].filter(([name]) => !Object.hasOwn(wireExclusions, name))
  for (const [name, lines] of unexpected) console.log(`FAIL ${name}\n${lines.join('\n')}`)
  for (const name of excluded) console.log(`not asked: ${name} (${wireExclusions[name]})`)
  for (const name of passed)
    if (Object.hasOwn(wireExclusions, name)) console.log(`passes already, so it can be asked: ${name}`)
  console.log(
    `wire checks on ${store}: ${passed.size} passed, ${unexpected.length} failed, ${excluded.length} not asked`,
  )
  return unexpected.length + (passed.size === 0 ? 1 : 0)
}
