// Calls of several rounds, and their steps, when answers are lost and processes die.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, form, memoryStore, tool } from '../../src/index.ts'
import type { Store } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { flakyStore, recorder } from '../durable/fakes.ts'
import { overMemory, toldBy, type Said, type Saying } from './speakers.ts'

const key = new Uint8Array(32).fill(4)
/** Records that wait for a store keep no process alive; here nothing else does. */
const keepsAlive = setInterval(() => {}, 1_000)
after(() => clearInterval(keepsAlive))
const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })
const yes = { action: 'accept', content: { sure: true } }
const no = { action: 'accept', content: { sure: false } }

type Options = Partial<Parameters<typeof createServer>[0]>

/** What all replicas of one shop do to the world. */
interface World {
  readonly store: Store
  readonly effects: string[]
  readonly keys: string[]
  /** The step after which the process that runs the call is dead. */
  diesAfter: string | undefined
  now: number
}

function world(store?: Store): World {
  const made: World = {
    store: store ?? memoryStore({ clock: () => made.now }),
    effects: [],
    keys: [],
    diesAfter: undefined,
    now: 1_000_000,
  }
  return made
}

async function replica(of: World, options: Options = {}) {
  const act = (step: string) => (input: { key: string }) => {
    of.effects.push(step)
    of.keys.push(input.key)
    return of.effects.length
  }
  /** A process that is dead does nothing any more, and answers nobody. */
  const live = async (step: string): Promise<void> => {
    if (of.diesAfter === step) await new Promise(() => {})
  }
  const work = async (ctx: Parameters<Parameters<typeof tool>[2]>[1], asks: boolean): Promise<string> => {
    await ctx.step('one', act('one'))
    await live('one')
    if (asks) {
      const answer = await ctx.elicit('sure', sure, 'Sure?')
      if (answer.action !== 'accept' || !answer.content.sure) return 'declined'
    }
    await ctx.step('two', act('two'))
    await live('two')
    return `did ${of.effects.join(' ')}`
  }
  const server = createServer({
    name: 'shop',
    version: '1',
    keys: [key],
    store: of.store,
    clock: () => of.now,
    ...options,
    tools: [
      tool('plain', {}, (_, ctx) => work(ctx, false)),
      tool('safe', { rerun: 'safe' }, (_, ctx) => work(ctx, false)),
      tool('asks', {}, (_, ctx) => work(ctx, true)),
      tool('asks_safe', { rerun: 'safe' }, (_, ctx) => work(ctx, true)),
    ],
  })
  const speaker = await overMemory(server, '2026-07-28')
  return { call: (name: string, saying: Saying) => speaker.call(name, {}, saying), close: speaker.close }
}

function stateOf({ result }: Said): string {
  assert.equal(result?.['resultType'], 'input_required')
  return String(result?.['requestState'])
}

const answering = (state: string, answer: JsonObject = yes): JsonObject => ({
  requestState: state,
  inputResponses: { sure: answer },
})

test('a second round that was lost is told again, by its state alone', async () => {
  const of = world()
  const [one, other] = [await replica(of), await replica(of)]
  const state = stateOf(await one.call('asks', {}))
  const params = answering(state)
  assert.equal(toldBy(await one.call('asks', { params })), 'did one two')
  for (const at of [one, other]) assert.equal(toldBy(await at.call('asks', { params })), 'did one two, replayed')
  assert.match(toldBy(await other.call('asks', { params: answering(state, no) })), /^refused -32602/)
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('a first round with a key is told again with its question, and goes on on any replica', async () => {
  const of = world()
  const [one, other] = [await replica(of), await replica(of)]
  const first = await one.call('asks', { key: 'k' })
  const again = await other.call('asks', { key: 'k' })
  assert.equal(stateOf(again), stateOf(first))
  assert.deepEqual(again.result?.['inputRequests'], first.result?.['inputRequests'])
  const params = answering(stateOf(again))
  assert.equal(toldBy(await other.call('asks', { key: 'k', params })), 'did one two')
  assert.equal(toldBy(await one.call('asks', { key: 'k', params })), 'did one two, replayed')
  assert.equal(toldBy(await one.call('asks', { key: 'k' })), 'did one two, replayed')
  assert.equal(toldBy(await one.call('asks', { params })), 'did one two, replayed')
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('no arguments are the same call as empty ones', async () => {
  const of = world()
  const one = await replica(of)
  const bare = { arguments: undefined } as unknown as JsonObject // a member that is undefined is not sent
  for (const first of [{}, bare]) {
    const other = first === bare ? {} : bare
    const key = first === bare ? 'bare' : 'empty'
    const told = toldBy(await one.call('plain', { key, params: first }))
    assert.equal(toldBy(await one.call('plain', { key, params: other })), `${told}, replayed`)
    const params = answering(stateOf(await one.call('asks', { params: first })))
    assert.match(toldBy(await one.call('asks', { params: { ...params, ...other } })), /^did /)
  }
})

test('a state is answered once, whatever key comes with it', async () => {
  const of = world()
  const [one, other] = [await replica(of), await replica(of)]
  const params = answering(stateOf(await one.call('asks', {})))
  assert.equal(toldBy(await one.call('asks', { params })), 'did one two')
  for (const key of ['k', 'l']) assert.match(toldBy(await other.call('asks', { key, params })), /^refused -32602/)
  assert.equal(toldBy(await other.call('asks', { params })), 'did one two, replayed')
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('a key that was only ever refused is free', async () => {
  const of = world()
  const one = await replica(of)
  const params = answering(stateOf(await one.call('asks', {})))
  assert.equal(toldBy(await one.call('asks', { params })), 'did one two')
  for (let times = 0; times < 3; times++)
    assert.match(toldBy(await one.call('asks', { key: 'k', params })), /^refused -32602/)
  assert.equal(
    toldBy(await one.call('asks', { key: 'k', params: answering(stateOf(await one.call('asks', { key: 'k' }))) })),
    'did one two one two',
  )
})

test('a key that comes with the answers is good for that call from then on', async () => {
  const of = world()
  const one = await replica(of)
  const params = answering(stateOf(await one.call('asks', {})))
  assert.equal(toldBy(await one.call('asks', { key: 'k', params })), 'did one two')
  const done = ['k', 'k', undefined]
  for (const key of done)
    assert.equal(toldBy(await one.call('asks', { params, ...(key && { key }) })), 'did one two, replayed')
  assert.equal(toldBy(await one.call('asks', { key: 'k' })), 'did one two, replayed')
  assert.match(toldBy(await one.call('asks', { key: 'l', params })), /^refused -32602/)
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('a key that came with the answers of one state is not good for those of another', async () => {
  const of = world()
  const one = await replica(of)
  const [first, second] = [await one.call('asks', {}), await one.call('asks', {})]
  const told = []
  for (const asked of [first, second])
    told.push(toldBy(await one.call('asks', { key: 'k', params: answering(stateOf(asked)) })))
  assert.deepEqual(told, ['did one one two', 'did one one two, replayed'])
  assert.deepEqual(of.effects, ['one', 'one', 'two'])
})

test('a call that began under one key does not go on under another', async () => {
  const of = world()
  const one = await replica(of)
  const params = answering(stateOf(await one.call('asks', { key: 'k' })))
  assert.match(toldBy(await one.call('asks', { key: 'l', params })), /^refused -32602/)
  assert.equal(toldBy(await one.call('asks', { key: 'k', params })), 'did one two')
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('a question nobody answered in time is asked anew, and what was done stays done', async () => {
  const of = world()
  const one = await replica(of, { stateTtlMs: 1_000 })
  const old = stateOf(await one.call('asks', { key: 'k' }))
  of.now += 1_001
  const late = await one.call('asks', { key: 'k', params: answering(old) })
  assert.match(toldBy(late), /expired/)
  const fresh = stateOf(await one.call('asks', { key: 'k' }))
  assert.notEqual(fresh, old)
  assert.equal(toldBy(await one.call('asks', { key: 'k', params: answering(fresh) })), 'did one two')
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('a process that dies between two steps leaves an unknown outcome, or the second step to another', async () => {
  for (const [name, told] of [
    ['plain', /^refused -32603/],
    ['safe', /^did one two$/],
  ] as const) {
    const of = world()
    const [one, other] = [await replica(of, { once: { leaseMs: 1_000_000 } }), await replica(of)]
    of.diesAfter = 'one'
    void one.call(name, { key: 'k' })
    await delay(20)
    assert.match(toldBy(await other.call(name, { key: 'k' })), /^refused -32600/)
    of.now += 1_000_001
    of.diesAfter = undefined
    assert.match(toldBy(await other.call(name, { key: 'k' })), told)
    assert.deepEqual(of.effects, name === 'safe' ? ['one', 'two'] : ['one'])
  }
})

test('steps of a later round are found again too', async () => {
  const of = world()
  const [one, other] = [await replica(of, { once: { leaseMs: 1_000 } }), await replica(of)]
  const params = answering(stateOf(await one.call('asks_safe', { key: 'k' })))
  of.diesAfter = 'two'
  void one.call('asks_safe', { key: 'k', params })
  await delay(20)
  of.now += 1_001
  of.diesAfter = undefined
  assert.equal(toldBy(await other.call('asks_safe', { key: 'k', params })), 'did one two')
  assert.deepEqual(of.effects, ['one', 'two'])
})

test('a step has one key upstream, whoever runs it, and no other step has it', async () => {
  const of = world()
  const [one, other] = [await replica(of), await replica(of)]
  await one.call('plain', { key: 'k' })
  await other.call('plain', { key: 'l' })
  assert.equal(new Set(of.keys).size, 4)
  const again = world()
  await (await replica(again)).call('plain', { key: 'k' })
  assert.deepEqual(again.keys, of.keys.slice(0, 2))
})

test('a step whose record cannot be read does not run', { timeout: 20_000 }, async () => {
  const flaky = flakyStore(memoryStore({ clock: () => of.now }))
  const of = world(flaky.store)
  const { logger } = recorder()
  const one = await replica(of, { once: { leaseMs: 1_000 }, logger })
  of.diesAfter = 'one'
  void one.call('safe', { key: 'k' })
  await delay(20)
  of.now += 1_001
  of.diesAfter = undefined
  const claims = flaky.store.get
  // The claim is read once, the steps are not.
  let reads = 0
  Object.assign(flaky.store, {
    get: (name: string) => (reads++ === 0 ? claims(name) : ((flaky.away = 'before'), claims(name))),
  })
  const other = await replica(of, { logger })
  const called = other.call('safe', { key: 'k' })
  assert.match(toldBy(await called), /^refused -32603/)
  assert.deepEqual(of.effects, ['one'])
  flaky.away = undefined
  Object.assign(flaky.store, { get: claims })
  await delay(700)
  assert.equal(toldBy(await other.call('safe', { key: 'k' })), 'did one two')
})
