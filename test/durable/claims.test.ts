import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createClaims } from '../../src/durable/claims.ts'
import type { Claims, ClaimsOptions, Held, Known } from '../../src/durable/claims.ts'
import { isRefusal } from '../../src/model/refusal.ts'
import type { Store } from '../../src/model/store.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import { flakyStore, handClock, recorder } from './fakes.ts'

const leaseMs = 1_000
/** Records that wait for a store keep no process alive; here nothing else does. */
const keepsAlive = setInterval(() => {}, 1_000)
after(() => clearInterval(keepsAlive))
const attempt = { arguments: 'x', round: 0, answers: '', rerun: false }
const result = (text: string) => ({ kind: 'complete', outcome: { result: text } }) as const

function open(store: Store, clock: () => number, options: Partial<ClaimsOptions> = {}) {
  const log = recorder()
  const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))
  const claims = createClaims({ store, clock, random, logger: log.logger, leaseMs, ...options })
  return { claims, log }
}

async function ours(claims: Claims, id: string, more: Partial<typeof attempt> = {}): Promise<Held> {
  const claimed = await claims.claim({ id, attempt: { ...attempt, ...more } })
  assert.ok(!('kind' in claimed), `not ours: ${JSON.stringify(claimed)}`)
  return claimed
}

async function theirs(claims: Claims, id: string, more: Partial<typeof attempt> = {}): Promise<Known> {
  const claimed = await claims.claim({ id, attempt: { ...attempt, ...more } })
  assert.ok('kind' in claimed, 'ours')
  return claimed
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-claims-'))
const opened: Store[] = []
after(async () => {
  for (const store of opened) await store.close()
  rmSync(folder, { recursive: true, force: true })
})
let files = 0
const stores = {
  memory: (clock: () => number) => memoryStore({ clock }),
  sqlite: (clock: () => number) => sqlite({ path: join(folder, `${files++}.db`), clock }),
}

for (const [name, make] of Object.entries(stores)) {
  describe(name, () => {
    function two(options: Partial<ClaimsOptions> = {}) {
      const clock = handClock()
      const store = make(clock)
      opened.push(store)
      return { clock, store, one: open(store, clock, options), other: open(store, clock, options) }
    }

    test('one runs, the others are told', async () => {
      const { one, other } = two()
      const held = await ours(one.claims, 'k')
      assert.equal(held.again, false)
      assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'busy' })
      assert.deepEqual(await theirs(one.claims, 'k'), { kind: 'busy' })
      await held.settle(result('done'))
      for (const { claims } of [one, other]) {
        assert.deepEqual(await theirs(claims, 'k'), { kind: 'replay', outcome: { result: 'done' } })
        assert.deepEqual(await theirs(claims, 'k', { arguments: 'y' }), { kind: 'conflict' })
      }
      await ours(other.claims, 'another')
    })

    test('of many at once exactly one runs', async () => {
      const { one, other } = two()
      const tries = Array.from({ length: 20 }, (_, n) => (n % 2 ? one : other).claims.claim({ id: 'k', attempt }))
      const won = (await Promise.all(tries)).filter((claimed) => !('kind' in claimed))
      assert.equal(won.length, 1)
    })

    test('a lease is renewed while the run lasts, and runs out when nobody renews it', async () => {
      const { clock, one, other } = two({ leaseMs: 30 })
      const held = await ours(one.claims, 'k')
      clock.now += 25
      await delay(60)
      clock.now += 25
      assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'busy' })
      one.claims.close()
      clock.now += 100
      const known = await theirs(other.claims, 'k')
      assert.equal(known.kind, 'unknown')
      await held.settle(result('late, but true'))
      assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'replay', outcome: { result: 'late, but true' } })
    })

    test('who was taken over records nothing', async () => {
      const { clock, one, other } = two()
      const held = await ours(one.claims, 'k', { rerun: true })
      one.claims.close()
      clock.now += leaseMs
      const second = await ours(other.claims, 'k', { rerun: true })
      assert.equal(second.again, true)
      await held.settle(result('first'))
      assert.equal(one.log.at('warn').length, 1)
      assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'busy' })
      await second.settle(result('second'))
      assert.deepEqual(await theirs(one.claims, 'k'), { kind: 'replay', outcome: { result: 'second' } })
    })

    test('a run that was given back is free, one that was lost is not', async () => {
      const { one, other } = two()
      await (await ours(one.claims, 'k')).settle({ kind: 'release' })
      await (await ours(other.claims, 'k')).settle({ kind: 'lose' })
      assert.equal((await theirs(one.claims, 'k')).kind, 'unknown')
      assert.equal((await ours(one.claims, 'k', { rerun: true })).again, true)
    })

    test('rounds follow one another', async () => {
      const { clock, one, other } = two()
      const asks = { kind: 'suspend', outcome: { result: 'asks' }, goodUntil: clock.now + 500 } as const
      await (await ours(one.claims, 'k')).settle(asks)
      assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'replay', outcome: { result: 'asks' } })
      const second = await ours(other.claims, 'k', { round: 1, answers: 'yes' })
      await second.settle(result('done'))
      assert.deepEqual(await theirs(one.claims, 'k', { round: 1, answers: 'no' }), { kind: 'conflict' })
      assert.equal((await theirs(one.claims, 'k', { round: 1, answers: 'yes' })).kind, 'replay')
    })

    test('a question that nobody can answer any more is asked again, and steps are looked up', async () => {
      const { clock, one } = two()
      const asks = { kind: 'suspend', outcome: { result: 'asks' }, goodUntil: clock.now + 500 } as const
      await (await ours(one.claims, 'k')).settle(asks)
      clock.now += 500
      assert.equal((await ours(one.claims, 'k')).again, true)
    })

    test('what a call came to is forgotten in time, and sooner where that was said', async () => {
      const { clock, one } = two({ keepMs: 1_000 })
      await (await ours(one.claims, 'long')).settle(result('long'))
      const short = await one.claims.claim({ id: 'short', attempt, keepMs: 100 })
      assert.ok(!('kind' in short))
      await short.settle(result('short'))
      clock.now += 100
      await ours(one.claims, 'short')
      assert.equal((await theirs(one.claims, 'long')).kind, 'replay')
      clock.now += 900
      await ours(one.claims, 'long')
    })

    test('finished ones give way first, then unanswered ones, running ones never', async () => {
      const { clock, one } = two({ maxClaims: 3 })
      const { claims } = one
      await ours(claims, 'running')
      await (
        await ours(claims, 'asked')
      ).settle({ kind: 'suspend', outcome: { result: '' }, goodUntil: clock.now + 500 })
      await (await ours(claims, 'finished')).settle(result('a'))
      await ours(claims, 'new')
      assert.equal((await theirs(claims, 'asked')).kind, 'replay')
      await ours(claims, 'newer')
      await assert.rejects(
        async () => claims.claim({ id: 'newest', attempt }),
        (error) => isRefusal(error) && error.kind === 'StoreFull',
      )
      assert.equal((await theirs(claims, 'running')).kind, 'busy')
    })
  })
}

function overFlaky() {
  const clock = handClock()
  const flaky = flakyStore(memoryStore({ clock }))
  return { clock, flaky, one: open(flaky.store, clock), other: open(flaky.store, clock) }
}

const unavailable = (error: unknown): boolean => isRefusal(error) && error.kind === 'IdempotencyUnavailable'

test('a store that is away is never taken for one that knows nothing', async () => {
  const { flaky, one } = overFlaky()
  flaky.away = 'before'
  await assert.rejects(async () => one.claims.claim({ id: 'k', attempt }), unavailable)
  flaky.away = undefined
  await ours(one.claims, 'k')
})

test('a claim that may have been written although the call was refused is taken back', async () => {
  const { flaky, one, other } = overFlaky()
  flaky.away = 'after'
  await assert.rejects(async () => one.claims.claim({ id: 'k', attempt }), unavailable)
  assert.deepEqual(await theirs(other.claims, 'k').catch(() => undefined), undefined)
  flaky.away = undefined
  await delay(700)
  assert.equal((await ours(other.claims, 'k')).again, false)
})

test('a record that the store did not take is written later, and told meanwhile', async () => {
  for (const away of ['before', 'after'] as const) {
    const { flaky, one, other } = overFlaky()
    const held = await ours(one.claims, 'k')
    flaky.away = away
    const written = held.settle(result('true'))
    await delay(20)
    assert.deepEqual(await theirs(one.claims, 'k'), { kind: 'replay', outcome: { result: 'true' } })
    assert.deepEqual(await theirs(one.claims, 'k', { arguments: 'y' }), { kind: 'conflict' })
    flaky.away = undefined
    await written
    assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'replay', outcome: { result: 'true' } })
    assert.equal(one.log.at('error').length, 0)
    const said = one.log.at('warn').map(({ message }) => message)
    assert.deepEqual(said, ['what a call came to cannot be recorded yet'])
  }
})

test('what does not fit is said, and recorded as having ended', async () => {
  const clock = handClock()
  const store = memoryStore({ clock, maxLength: 2_000 })
  const { claims, log } = open(store, clock)
  const held = await ours(claims, 'k')
  await held.settle(result('x'.repeat(5_000)))
  assert.deepEqual([log.at('warn').length, log.at('error').length], [1, 0])
  assert.deepEqual(await theirs(claims, 'k'), { kind: 'gone', since: clock.now })
  assert.deepEqual(await theirs(claims, 'k', { arguments: 'y' }), { kind: 'conflict' })
})

test('where the store lets go of nothing by itself, the oldest long outcomes are let go', async () => {
  const clock = handClock()
  const inner = memoryStore({ clock, maxLength: 2_000_000 })
  // One that holds so much and no more, as a disk does.
  const put: Store['put'] = (key, value, { evict: _, ...options } = {}) => inner.put(key, value, options)
  const { claims } = open({ ...inner, put }, clock)
  for (let n = 0; n < 190; n++, clock.now++) await (await ours(claims, `k${n}`)).settle(result('x'.repeat(10_000)))
  const fill = async (n: number): Promise<unknown> => inner.put(`filled${n}`, 'x'.repeat(100)).then(() => fill(n + 1))
  await assert.rejects(fill(0))
  for (let n = 0; n < 50; n++) await (await ours(claims, `l${n}`)).settle(result('l'))
  assert.equal((await theirs(claims, 'k0')).kind, 'gone')
  assert.equal((await theirs(claims, 'k189')).kind, 'replay')
})

test('long outcomes make way for new ones, and leave what ran behind', async () => {
  const clock = handClock()
  const store = memoryStore({ clock, maxLength: 100_000 })
  const { claims } = open(store, clock)
  const long = 'x'.repeat(10_000)
  await (await ours(claims, 'small')).settle(result('small'))
  for (let n = 0; n < 50; n++) await (await ours(claims, `k${n}`)).settle(result(`${n}${long}`))
  assert.deepEqual(await theirs(claims, 'small'), { kind: 'replay', outcome: { result: 'small' } })
  assert.deepEqual(await theirs(claims, 'k49'), { kind: 'replay', outcome: { result: `49${long}` } })
  assert.deepEqual(await theirs(claims, 'k0'), { kind: 'gone', since: clock.now })
})

test('a long outcome that the store did not take is written later, and told meanwhile', async () => {
  const { flaky, one, other } = overFlaky()
  const long = 'x'.repeat(10_000)
  const held = await ours(one.claims, 'k')
  flaky.away = 'after'
  const written = held.settle(result(long))
  await delay(20)
  assert.deepEqual(await theirs(one.claims, 'k'), { kind: 'replay', outcome: { result: long } })
  flaky.away = undefined
  await written
  assert.deepEqual(await theirs(other.claims, 'k'), { kind: 'replay', outcome: { result: long } })
})

test('a claim is kept as long as states lead to it, and no longer where nothing else does', async () => {
  const { clock, one } = overFlaky()
  const goodUntil = clock.now + 500
  const claiming = (id: string, byStateAlone: boolean) => ({ id, attempt, stateMs: 500, byStateAlone, keepMs: 100 })
  const suspended = { kind: 'suspend', outcome: { result: '' }, goodUntil } as const
  for (const [id, alone] of [
    ['alone', true],
    ['keyed', false],
  ] as const) {
    for (const [name, event] of [
      [`${id} asks`, suspended],
      [`${id} ended`, result('')],
    ] as const) {
      const held = await one.claims.claim(claiming(name, alone))
      assert.ok(!('kind' in held))
      clock.now += 100
      await held.settle(event)
      clock.now -= 100
    }
  }
  const again = async (name: string): Promise<boolean | string> => {
    const claimed = await one.claims.claim(claiming(name, false))
    return 'kind' in claimed ? claimed.kind : claimed.again
  }
  clock.now += 499
  for (const name of ['alone asks', 'keyed asks']) assert.equal(await again(name), 'replay')
  clock.now += 1
  assert.equal(await again('alone asks'), false)
  assert.equal(await again('keyed asks'), true)
  assert.equal(await again('alone ended'), 'replay')
  clock.now += 100
  assert.equal(await again('alone ended'), false)
})

test('it is said, once a minute at most, that finished calls are forgotten before their time', async () => {
  const minute = 60_000
  const clock = handClock()
  const { claims, log } = open(memoryStore({ clock }), clock, { maxClaims: 10, keepMs: 30 * minute })
  let ids = 0
  /** As many calls, in as many minutes, at one rate. */
  const run = async (calls: number, minutes: number): Promise<void> => {
    for (let n = 0; n < calls; n++) {
      await (await ours(claims, `k${ids++}`)).settle(result(''))
      clock.now += (minutes * minute) / calls
    }
    await delay(1)
  }
  // One in four minutes: eight at a time.
  await run(20, 80)
  assert.deepEqual(log.at('warn'), [])
  // Ten a minute: each lives for a minute.
  await run(30, 3)
  const said = log.at('warn').map(({ message }) => message)
  assert.ok(said.length > 0 && said.length <= 3, String(said.length))
  assert.ok(
    said.every((message) => /^finished calls are forgotten before their time.*maxClaims/.test(message)),
    said[0],
  )
  // What became of those before is no news.
  await run(10, 40)
  const before = log.at('warn').length
  await run(10, 40)
  assert.equal(log.at('warn').length, before)
})

test('that a finished call is forgotten in time, or cannot be looked up, is no reason to warn', async () => {
  const { clock, flaky, one } = overFlaky()
  for (let n = 0; n < 10; n++) {
    const held = await one.claims.claim({ id: `k${n}`, attempt, keepMs: 120_000 })
    assert.ok(!('kind' in held))
    await held.settle(result(''))
    clock.now += 50_000
  }
  const last = await one.claims.claim({ id: 'last', attempt })
  assert.ok(!('kind' in last))
  flaky.away = 'before'
  void last.settle(result(''))
  await delay(5)
  flaky.away = undefined
  await delay(600)
  clock.now += 60_000
  await (await ours(one.claims, 'other')).settle(result(''))
  await delay(5)
  assert.deepEqual(
    one.log.at('warn').map(({ message }) => message),
    ['what a call came to cannot be recorded yet'],
  )
})
