// How often a call may ask, and how much of it is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inputRequired, memoryStore, Refusal, tool } from '../../src/index.ts'
import type { Context, Server } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Response } from '../../src/testing.ts'
import { clientOf, eras, serverOf, sure, textOf, yes } from './support.ts'

type Handler = (ctx: Context) => Promise<string> | string

const one = (handler: Handler, options: Parameters<typeof serverOf>[0] = {}): Server =>
  serverOf({ ...options, tools: [tool('t', {}, (_, ctx) => handler(ctx))] })

const stateOf = ({ result }: Response): string => String(result?.['requestState'])

for (const revision of eras) {
  test(`${revision}: a call that asks without end is ended`, async () => {
    let asked = 0
    const raw: Handler = () => inputRequired({ inputRequests: { r: { method: 'roots/list', params: {} } } }) as never
    const picky: Handler = async (ctx) => (await ctx.elicit('a', sure, 'A?')).action
    for (const [handler, options, most] of [
      [picky, {}, 20],
      [picky, { maxRounds: 3 }, 3],
      [raw, {}, 20],
      [raw, { maxRounds: 3 }, 3],
    ] as const) {
      asked = 0
      const answer = (method: string): JsonObject =>
        ++asked && method === 'roots/list' ? { roots: [] } : { action: 'accept', content: { sure: 'perhaps' } }
      const client = await clientOf(one(handler, { maskErrors: true, ...options }), { revision, answer })
      const done = await client.request('tools/call', { name: 't' })
      assert.equal(done.result?.['isError'], true)
      if (handler === picky && revision !== '2026-07-28') continue
      assert.match(textOf(done), /^The call asked \d+ times and still wants to know more$/)
      assert.equal(asked, most)
    }
  })
}

test('long states fill no store: the oldest gives way, and is then as good as expired', async () => {
  const handler: Handler = async (ctx) => {
    await ctx.step('big', () => 'x'.repeat(100_000))
    return (await ctx.elicit('a', sure, 'A?')).action
  }
  const client = await clientOf(one(handler, { store: memoryStore({ maxLength: 1_000_000 }) }))
  const states: string[] = []
  for (let n = 0; n < 20; n++) states.push(stateOf(await client.request('tools/call', { name: 't' })))
  const again = (state = ''): Promise<Response> =>
    client.request('tools/call', { name: 't', requestState: state, inputResponses: { a: yes } })
  assert.equal(textOf(await again(states.at(-1))), 'accept')
  assert.match((await again(states[0])).error?.message ?? '', /expired/)
})

test('where there is no room for a state, nobody says that nothing was run', async () => {
  let ran = 0
  const store = memoryStore()
  const put: typeof store.put = async (key, ...given) => {
    if (key.startsWith('state/')) throw new Refusal('StoreFull')
    return store.put(key, ...given)
  }
  const handler: Handler = async (ctx) => {
    await ctx.step('big', () => `${++ran}`.repeat(100_000))
    return (await ctx.elicit('a', sure, 'A?')).action
  }
  const client = await clientOf(one(handler, { store: { ...store, put } }))
  for (let n = 0; n < 2; n++) {
    const { error } = await client.request('tools/call', { name: 't' }, { 'dev.dragoman/idempotencyKey': 'k' })
    assert.match(error?.message ?? '', /outcome is not known/)
    assert.ok(error?.data?.['since'])
  }
  assert.equal(ran, 1)
})
