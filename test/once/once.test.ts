// Every keyed effect at most once: the keys, their scope, and what a call is told that is not the one to run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, form, memoryStore, Refusal, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { flakyStore } from '../durable/fakes.ts'
import { overHttp, overMemory, toldBy, type Speaker } from './speakers.ts'

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const legacy = revisions.slice(0, 4)
const key = new Uint8Array(32).fill(3)

const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } } })

type Options = Partial<Parameters<typeof createServer>[0]>

/** A server with effects that can be counted, and held up. */
function shop(options: Options = {}) {
  const state = { count: 0, aborted: 0, open: (): void => {}, entered: (): void => {} }
  const gate = new Promise<void>((resolve) => (state.open = resolve))
  const running = new Promise<void>((resolve) => (state.entered = resolve))
  const held = async (signal: AbortSignal | undefined): Promise<string> => {
    state.entered()
    await Promise.race([gate, new Promise((resolve) => signal?.addEventListener('abort', resolve))])
    if (signal?.aborted) {
      state.aborted++
      throw signal.reason
    }
    return String(++state.count)
  }
  const server = createServer({
    name: 'shop',
    version: '1',
    keys: [key],
    ...options,
    tools: [
      tool('add', { input: { type: 'object' } }, () => String(++state.count)),
      tool('other', { input: { type: 'object' } }, () => String(++state.count)),
      tool('long', { input: { type: 'object', properties: { length: {} } } }, ({ length }) => {
        state.count++
        return 'x'.repeat(Number(length))
      }),
      tool('long_task', { task: 'always' }, () => String(++state.count)),
      tool('look', { input: { type: 'object' }, annotations: { readOnlyHint: true } }, () => String(++state.count)),
      tool('look_task', { annotations: { readOnlyHint: true }, task: 'always' }, () => String(++state.count)),
      tool('look_asks', { annotations: { readOnlyHint: true } }, async (_, ctx) => {
        const { action } = await ctx.elicit('sure', sure, 'Sure?')
        return `${action} ${++state.count}`
      }),
      tool('held', {}, (_, { signal }) => held(signal)),
      tool('deaf', {}, () => held(undefined)),
      tool('safe', { rerun: 'safe' }, (_, { signal }) => held(signal)),
      tool('fails', {}, () => {
        throw new Error(`failure ${++state.count}`)
      }),
      tool('odd', {}, () => {
        state.count++
        const content: unknown[] = [{ type: 'text', text: 'a' }]
        content.push({ type: 'text', text: content })
        return content as never
      }),
    ],
  })
  return { server, state, running }
}

const ways: Record<string, (server: Server, revision: string) => Promise<Speaker>> = {
  memory: overMemory,
  http: overHttp,
}

for (const [way, open] of Object.entries(ways)) {
  for (const revision of revisions) {
    const on = (
      title: string,
      run: (speaker: Speaker, shopOf: ReturnType<typeof shop>) => Promise<void>,
      options?: Options,
    ): void =>
      void test(`${way} ${revision}: ${title}`, async () => {
        const opened = shop(options)
        const speaker = await open(opened.server, revision)
        await run(speaker, opened).finally(() => speaker.close())
      })

    on('a call with a key runs once, and is told again as such', async (speaker, { state }) => {
      assert.equal(toldBy(await speaker.call('add', {}, { key: 'k' })), '1')
      assert.equal(toldBy(await speaker.call('add', {}, { key: 'k' })), '1, replayed')
      assert.equal(toldBy(await speaker.call('add', {}, { key: 'l' })), '2')
      assert.equal(state.count, 2)
    })

    on('a key belongs to one tool and its arguments', async (speaker, { state }) => {
      await speaker.call('add', { a: 1, b: { c: 2, d: 3 } }, { key: 'k' })
      assert.equal(toldBy(await speaker.call('add', { b: { d: 3, c: 2 }, a: 1 }, { key: 'k' })), '1, replayed')
      assert.match(toldBy(await speaker.call('add', { a: 2 }, { key: 'k' })), /^refused -32602/)
      assert.equal(toldBy(await speaker.call('other', { a: 2 }, { key: 'k' })), '2')
      assert.equal(state.count, 2)
    })

    on(
      'long results fill no store',
      async (speaker, { state }) => {
        for (let n = 0; n < 30; n++) {
          assert.equal(toldBy(await speaker.call('long', { length: 100_000 }, { key: `k${n}` })).length, 100_000)
        }
        assert.match(toldBy(await speaker.call('long', { length: 100_000 }, { key: 'k29' })), /^x+, replayed$/)
        const { error } = await speaker.call('long', { length: 100_000 }, { key: 'k0' })
        assert.deepEqual([error?.code, error?.data?.['ended']], [-32603, true])
        // Too long to be kept at all.
        assert.equal(toldBy(await speaker.call('long', { length: 2_000_000 }, { key: 'l' })).length, 2_000_000)
        assert.equal((await speaker.call('long', { length: 2_000_000 }, { key: 'l' })).error?.data?.['ended'], true)
        assert.equal(state.count, 31)
      },
      { store: memoryStore({ maxLength: 1_000_000 }) },
    )

    on('a key that is none is refused', async (speaker, { state }) => {
      assert.match(toldBy(await speaker.call('add', {}, { key: '' })), /^refused -32602/)
      for (const key of [null, 0]) {
        assert.match(toldBy(await speaker.call('add', {}, { key, header: 'header' })), /^refused -32602/)
      }
      assert.match(toldBy(await speaker.call('add', {}, { key: 'k'.repeat(257) })), /^refused -32602/)
      assert.equal(state.count, 0)
      assert.doesNotMatch(toldBy(await speaker.call('add', {}, { key: 'k'.repeat(256) })), /^refused/)
    })

    if (revision === '2025-11-25' || revision === '2026-07-28') {
      let full = true
      const store = memoryStore()
      const put: typeof store.put = async (name, ...given) => {
        if (full && name.startsWith('task.')) throw new Refusal('StoreFull')
        return store.put(name, ...given)
      }
      on(
        'what was refused before it ran is not recorded',
        async (speaker, { state }) => {
          full = true
          const saying = { key: 'k', params: revision === '2025-11-25' ? { task: {} } : {} }
          assert.match(toldBy(await speaker.call('long_task', {}, saying)), /^refused -32603.*Nothing was run/)
          full = false
          const { result } = await speaker.call('long_task', {}, saying)
          assert.ok(JSON.stringify(result).includes('"taskId"'), JSON.stringify(result))
          await delay(20)
          assert.equal(state.count, 1)
        },
        { store: { ...store, put } },
      )
    }

    on('what failed is recorded as what succeeded is', async (speaker, { state }) => {
      for (const again of ['', ', replayed']) {
        assert.equal(toldBy(await speaker.call('fails', {}, { key: 'k' })), `failure 1${again}`)
      }
      for (let time = 0; time < 2; time++) {
        assert.match(toldBy(await speaker.call('odd', {}, { key: 'k' })), /^refused -32603/)
      }
      assert.equal(state.count, 2)
    })

    on('while it runs, the same key is refused', async (speaker, { state, running }) => {
      const first = speaker.call('held', {}, { key: 'k' })
      await running
      assert.match(toldBy(await speaker.call('held', {}, { key: 'k' })), /^refused -32600/)
      state.open()
      assert.equal(toldBy(await first), '1')
    })

    on(
      'while it runs, the same key waits where that is the policy',
      async (speaker, { state, running }) => {
        const first = speaker.call('held', {}, { key: 'k' })
        await running
        const second = speaker.call('held', {}, { key: 'k' })
        await delay(30)
        state.open()
        assert.equal(toldBy(await first), '1')
        assert.equal(toldBy(await second), '1, replayed')
      },
      { once: { whileRunning: 'join' } },
    )

    on('cancelled and stopped, nobody knows what was done', async (speaker, { state, running }) => {
      if (way === 'http' && speaker.modern) return
      void speaker.call('held', {}, { key: 'k', id: 77 })
      await running
      await speaker.cancel(77)
      await delay(20)
      const again = await speaker.call('held', {}, { key: 'k', id: 78 })
      assert.match(toldBy(again), /^refused -32603/)
      assert.match(String(again.error?.data?.['since']), /^\d{4}-\d\d-\d\dT/)
      assert.equal(state.aborted, 1)
    })

    on('cancelled and stopped, it runs again where that is safe', async (speaker, { state, running }) => {
      if (way === 'http' && speaker.modern) return
      void speaker.call('safe', {}, { key: 'k', id: 77 })
      await running
      await speaker.cancel(77)
      await delay(20)
      state.open()
      assert.equal(toldBy(await speaker.call('safe', {}, { key: 'k', id: 78 })), '1')
    })

    on('cancelled and finished all the same, it is told what it came to', async (speaker, { state, running }) => {
      if (way === 'http' && speaker.modern) return
      void speaker.call('deaf', {}, { key: 'k', id: 77 })
      await running
      await speaker.cancel(77)
      await delay(20)
      assert.match(toldBy(await speaker.call('deaf', {}, { key: 'k', id: 78 })), /^refused -32600/)
      state.open()
      await delay(20)
      assert.equal(toldBy(await speaker.call('deaf', {}, { key: 'k', id: 79 })), '1, replayed')
    })
  }

  for (const revision of legacy) {
    test(`${way} ${revision}: a request id is a key within its session`, async () => {
      const { server } = shop()
      const speaker = await open(server, revision)
      assert.equal(toldBy(await speaker.call('add', {}, { id: 5 })), '1')
      assert.equal(toldBy(await speaker.call('add', {}, { id: 5 })), '1, replayed')
      assert.equal(toldBy(await speaker.call('add', {}, { id: '5' })), '2')
      assert.equal(toldBy(await speaker.call('add', { other: true }, { id: 5 })), '3')
      assert.equal(toldBy(await speaker.call('add', {}, { id: 'initialize' })), '4')
      assert.equal(toldBy(await speaker.call('add', {}, { id: 'initialize' })), '5')
      assert.equal(toldBy(await speaker.call('look', {}, { id: 6 })), '6')
      assert.equal(toldBy(await speaker.call('look', {}, { id: 6 })), '7')
      const other = await open(server, revision)
      assert.equal(toldBy(await other.call('add', {}, { id: 5 })), '8')
      await Promise.all([speaker.close(), other.close()])
    })
  }
}

test('a request id is forgotten after five minutes, a key after a day', async () => {
  let now = 1_000_000
  const { server } = shop({ clock: () => now })
  const speaker = await overMemory(server, '2025-11-25')
  await speaker.call('add', {}, { id: 5 })
  await speaker.call('add', {}, { id: 6, key: 'k' })
  now += 5 * 60_000 - 1
  assert.equal(toldBy(await speaker.call('add', {}, { id: 5 })), '1, replayed')
  now += 1
  assert.equal(toldBy(await speaker.call('add', {}, { id: 5 })), '3')
  now += 23 * 3_600_000
  assert.equal(toldBy(await speaker.call('add', {}, { id: 7, key: 'k' })), '2, replayed')
  now += 3_600_000
  assert.equal(toldBy(await speaker.call('add', {}, { id: 8, key: 'k' })), '4')
  await speaker.close()
})

test('without key, state and session a call runs whenever it is made', async () => {
  const { server } = shop()
  for (const open of Object.values(ways)) {
    const speaker = await open(server, '2026-07-28')
    const before = Number(toldBy(await speaker.call('add', {}, { id: 5 })))
    assert.equal(toldBy(await speaker.call('add', {}, { id: 5 })), String(before + 1))
    await speaker.close()
  }
})

test('the header is a key too, and the one in _meta goes before it', async () => {
  for (const revision of revisions) {
    const { server } = shop()
    const speaker = await overHttp(server, revision)
    assert.equal(toldBy(await speaker.call('add', {}, { header: 'k' })), '1')
    assert.equal(toldBy(await speaker.call('add', {}, { header: 'k' })), '1, replayed')
    assert.equal(toldBy(await speaker.call('add', {}, { header: 'k', key: 'l' })), '2')
    assert.equal(toldBy(await speaker.call('add', {}, { key: 'k' })), '1, replayed')
    await speaker.close()
  }
})

test('the header of a batch is the key of none of its calls', async () => {
  const { server, state } = shop()
  const speaker = await overHttp(server, '2025-03-26')
  const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'add' } })
  const text = await speaker.post([call(1), call(2)], { 'idempotency-key': 'k' })
  assert.equal((JSON.parse(text) as unknown[]).length, 2)
  assert.equal(state.count, 2)
  await speaker.close()
})

test('a key belongs to whoever calls', async () => {
  const { server } = shop()
  for (const revision of revisions) {
    const open = (id: string) => overMemory(server, revision, { principal: { id, scopes: new Set() } })
    const [ada, eve] = [await open('ada'), await open('eve')]
    const first = toldBy(await ada.call('add', {}, { key: revision }))
    assert.notEqual(toldBy(await eve.call('add', {}, { key: revision })), `${first}, replayed`)
    assert.equal(toldBy(await ada.call('add', {}, { key: revision })), `${first}, replayed`)
    await Promise.all([ada.close(), eve.close()])
  }
})

test('with a key a call goes on when its client goes away, and without one it does not', async () => {
  const { server, state, running } = shop()
  const speaker = await overHttp(server, '2026-07-28')
  const hangUp = new AbortController()
  const lost = speaker.call('held', {}, { key: 'k', signal: hangUp.signal }).catch(() => 'lost')
  await running
  hangUp.abort()
  assert.equal(await lost, 'lost')
  await delay(50)
  assert.match(toldBy(await speaker.call('held', {}, { key: 'k' })), /^refused -32600/)
  state.open()
  await delay(20)
  assert.equal(toldBy(await speaker.call('held', {}, { key: 'k' })), '1, replayed')
  assert.equal(state.aborted, 0)
  await speaker.close()

  const other = shop()
  const speaks = await overHttp(other.server, '2026-07-28')
  const leave = new AbortController()
  const gone = speaks.call('held', {}, { signal: leave.signal }).catch(() => 'lost')
  await other.running
  leave.abort()
  await gone
  await delay(50)
  assert.equal(other.state.aborted, 1)
  await speaks.close()
})

test('while the store is away nothing runs that wants to run once', async () => {
  for (const revision of revisions) {
    const flaky = flakyStore(memoryStore())
    const { server, state } = shop({ store: flaky.store })
    const speaker = await overMemory(server, revision)
    flaky.away = 'before'
    assert.match(toldBy(await speaker.call('add', {}, { key: 'k' })), /^refused -32603/)
    assert.equal(state.count, 0)
    flaky.away = undefined
    assert.equal(toldBy(await speaker.call('add', {}, { key: 'k' })), '1')
    await speaker.close()
  }
})

test('a store that goes away while a call runs takes nothing from its answer', async () => {
  const flaky = flakyStore(memoryStore())
  const { server, state, running } = shop({ store: flaky.store })
  const speaker = await overMemory(server, '2026-07-28')
  const called = speaker.call('held', {}, { key: 'k' })
  await running
  flaky.away = 'before'
  state.open()
  assert.equal(toldBy(await called), '1')
  assert.equal(toldBy(await speaker.call('held', {}, { key: 'k' })), '1, replayed')
  flaky.away = undefined
  await delay(600)
  const replica = await overMemory(shop({ store: flaky.store }).server, '2026-07-28')
  assert.equal(toldBy(await replica.call('held', {}, { key: 'k' })), '1, replayed')
  await Promise.all([speaker.close(), replica.close()])
})

test('a call that only reads runs again, whatever its key, and takes the place of no record', async () => {
  for (const revision of revisions) {
    const { server, state } = shop({ once: { maxClaims: 3 } })
    const open = (id: string) => overMemory(server, revision, { principal: { id, scopes: new Set() } })
    const [ada, eve] = [await open('ada'), await open('eve')]
    assert.equal(toldBy(await ada.call('add', {}, { key: 'order' })), '1')
    for (let n = 0; n < 10; n++) await eve.call('look', {}, { key: `k${n}` })
    assert.equal(toldBy(await eve.call('look', {}, { key: 'k0' })), '12')
    assert.equal(toldBy(await eve.call('look', { other: true }, { key: 'k0' })), '13')
    assert.match(toldBy(await eve.call('look', {}, { key: '' })), /^refused -32602/)
    assert.equal(toldBy(await ada.call('add', {}, { key: 'order' })), '1, replayed')
    assert.equal(state.count, 13)
    await Promise.all([ada.close(), eve.close()])
  }
})

test('a call that only reads is one task for one key, and its state is answered once', async () => {
  const { server } = shop()
  const speaker = await overMemory(server, '2026-07-28')
  const task = async (): Promise<unknown> => (await speaker.call('look_task', {}, { key: 'k' })).result?.['taskId']
  assert.equal(await task(), await task())
  const { result } = await speaker.call('look_asks', {}, { key: 'k' })
  const requestState = result?.['requestState'] as string
  const params = { requestState, inputResponses: { sure: { action: 'decline' } } }
  const told = toldBy(await speaker.call('look_asks', {}, { key: 'k', params }))
  assert.match(told, /^decline \d$/)
  assert.equal(toldBy(await speaker.call('look_asks', {}, { key: 'k', params })), `${told}, replayed`)
  await speaker.close()
})

test('servers say that they take keys, in every revision', async () => {
  const { testClient } = await import('../../src/testing.ts')
  for (const revision of revisions) {
    const client = await testClient(shop().server, { revision })
    const said = client.introduction ?? (await client.request('server/discover')).result
    const { experimental } = said?.['capabilities'] as { experimental?: object }
    assert.deepEqual(experimental, { 'dev.dragoman/idempotencyKey': {} }, revision)
    await client.close()
  }
})
