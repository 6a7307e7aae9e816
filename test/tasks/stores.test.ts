// Tasks on the stores that outlive a process: two processes, each with a connection of its own, one of which dies.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createServer, tool } from '../../src/index.ts'
import type { Server, Store } from '../../src/index.ts'
import { migratePostgres } from '../../src/store/postgres-migrate.ts'
import { postgres } from '../../src/postgres.ts'
import { redis } from '../../src/redis.ts'
import { sqlite } from '../../src/sqlite.ts'
import { reachPostgres, reachRedis } from '../store/servers.ts'
import { ada, clientOf, legacy, mortal, ok, sure, until, workshop, yes } from './support.ts'

/** How stores of one kind are opened: all of them one store, each a connection of its own. */
interface Kind {
  readonly missing: string | undefined
  open(): Promise<Store>
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-tasks-'))
const opened: Store[] = []
after(async () => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(folder, { recursive: true, force: true })
})

const redisServer = reachRedis()
const postgresServer = reachPostgres()
const unique = `tasks_${process.pid}`

const kinds: Readonly<Record<string, Kind>> = {
  sqlite: { missing: undefined, open: async () => sqlite(join(folder, 'tasks.db')) },
  redis: { missing: redisServer.missing, open: async () => redis({ url: redisServer.url(), prefix: unique }) },
  postgres: {
    missing: postgresServer.missing,
    async open() {
      await migratePostgres({ connectionString: postgresServer.url(), schema: unique })
      return postgres({ connectionString: postgresServer.url(), schema: unique })
    },
  },
}

/** Long enough for a heartbeat to arrive in time on a busy machine. */
const leaseMs = 1_000

function replica(store: Store, log: string[]): Server {
  return createServer({
    name: 'replica',
    version: '1',
    store,
    tasks: { leaseMs },
    tools: [
      tool('job', { task: 'always', rerun: 'safe' }, async (_, ctx) => {
        await ctx.step('first', () => log.push('first'))
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        await ctx.step('second', () => log.push(`second ${answer.action}`))
        return 'done'
      }),
    ],
  })
}

for (const [name, kind] of Object.entries(kinds)) {
  const open = async (): Promise<Store> => {
    const store = await kind.open()
    opened.push(store)
    return store
  }
  const skip = kind.missing ?? false

  test(`${name}: another process collects, hears, answers and calls off`, { skip }, async () => {
    const here = workshop({ store: await open() })
    const there = workshop({ store: await open() })
    const client = await clientOf(here.server, { principal: ada })
    const away = await clientOf(there.server, { revision: legacy, principal: ada })

    const { taskId } = ok(await client.request('tools/call', { name: 'held' })) as { taskId: string }
    const waiting = away.request('tasks/result', { taskId })
    here.release()
    assert.deepEqual(ok(await waiting)['content'], [{ type: 'text', text: 'held' }])

    const { taskId: asking } = ok(await client.request('tools/call', { name: 'asks' })) as { taskId: string }
    await until(client, asking, ({ status }) => status === 'input_required')
    const collected = away.request('tasks/result', { taskId: asking })
    ok(await client.request('tasks/update', { taskId: asking, inputResponses: { sure: yes } }))
    assert.deepEqual(ok(await collected)['content'], [{ type: 'text', text: 'answered accept' }])

    const { taskId: unwanted } = ok(await client.request('tools/call', { name: 'asks' })) as { taskId: string }
    ok(await away.request('tasks/cancel', { taskId: unwanted }))
    await until(client, unwanted, ({ status }) => status === 'cancelled')
    const listed = ok(await away.request('tasks/list'))['tasks'] as readonly { readonly taskId: string }[]
    assert.deepEqual(
      listed.map((task) => task.taskId),
      [taskId, asking, unwanted],
    )
  })

  test(`${name}: a worker that dies hands its task over, and no step is done twice`, { skip }, async () => {
    const log: string[] = []
    const first = mortal(await open())
    const dying = await clientOf(replica(first.store, log), { principal: ada })
    const { taskId } = ok(await dying.request('tools/call', { name: 'job' })) as { taskId: string }
    await until(dying, taskId, ({ status }) => status === 'input_required')
    first.die()

    const client = await clientOf(replica(await open(), log), { principal: ada })
    await until(client, taskId, ({ status }) => status === 'input_required')
    ok(await client.request('tasks/update', { taskId, inputResponses: { sure: yes } }))
    const { result } = await until(client, taskId, ({ status }) => status === 'completed')
    assert.deepEqual(result, { content: [{ type: 'text', text: 'done' }] })
    assert.deepEqual(log, ['first', 'second accept'])
  })
}
