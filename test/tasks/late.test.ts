// Tools that become tasks may come when doors are open already: their process hears what others do from then on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, memoryStore, tool } from '../../src/index.ts'
import type { Server, Store } from '../../src/index.ts'
import { ada, clientOf, legacy, modern, mortal, ok } from './support.ts'

const leaseMs = 60

/** A server whose clients are there before its tool is. */
function bareOn(store: Store): { readonly server: Server; readonly log: string[]; add(): void } {
  const log: string[] = []
  const server = createServer({
    name: 'office',
    version: '1',
    keys: [new Uint8Array(32).fill(7)],
    store,
    tasks: { leaseMs },
  })
  const job = tool('job', { task: 'always', rerun: 'safe' }, async (_, { signal }) => {
    log.push('began')
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    log.push('aborted')
    return 'done'
  })
  return { server, log, add: () => server.add(job) }
}

async function soon(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !holds(); turn++) await delay(5)
  assert.ok(holds(), holds.toString())
}

test('a process whose first such tool comes late hears what happens to tasks elsewhere', async () => {
  const store = memoryStore()
  const here = bareOn(store)
  const there = bareOn(store)
  const old = await clientOf(here.server, { principal: ada, revision: legacy })
  const young = await clientOf(there.server, { principal: ada })
  here.add()
  there.add()
  const taskId = String(ok(await young.request('tools/call', { name: 'job' }))['taskId'])
  ok(await young.request('tasks/cancel', { taskId }))
  await soon(() => old.heard.some(({ method }) => method === 'notifications/tasks/status'))
})

test('a process whose first such tool comes late looks after the tasks of others', async () => {
  for (const revision of [legacy, modern]) {
    const shared = memoryStore()
    const first = mortal(shared)
    const dying = bareOn(first.store)
    const heir = bareOn(shared)
    const visitor = await clientOf(heir.server, { revision })
    if (revision === modern) ok(await visitor.request('server/discover'))
    const client = await clientOf(dying.server, { principal: ada })
    dying.add()
    heir.add()
    ok(await client.request('tools/call', { name: 'job' }))
    first.die()
    await soon(() => heir.log.length > 0)
  }
})
