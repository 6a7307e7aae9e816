// Steps: effects that a handler which runs several times has once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool } from '../../src/index.ts'
import type { Context, Server } from '../../src/index.ts'
import { clientOf, eras, serverOf, sure, textOf, yes } from './support.ts'

const one = (handler: (ctx: Context) => Promise<string> | string): Server =>
  serverOf({ tools: [tool('t', {}, (_, ctx) => handler(ctx))] })

async function said(server: Server, revision: string): Promise<string> {
  const client = await clientOf(server, { revision, answer: () => yes })
  return textOf(await client.request('tools/call', { name: 't' }))
}

test('a step runs once, however many rounds follow', async () => {
  for (const revision of eras) {
    let runs = 0
    const server = one(async (ctx) => {
      const first = await ctx.step('work', () => ++runs)
      await ctx.elicit('a', sure, 'A?')
      await ctx.elicit('b', sure, 'B?')
      return `${first} ${runs}`
    })
    assert.equal(await said(server, revision), '1 1', revision)
  }
})

test('a step that was still running when the round ended is waited for, and kept', async () => {
  let runs = 0
  const server = one(async (ctx) => {
    const working = ctx.step('slow', async () => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      return ++runs
    })
    await ctx.elicit('a', sure, 'A?')
    return `${await working} ${runs}`
  })
  assert.equal(await said(server, '2026-07-28'), '1 1')
})

test('a step that throws is not kept, and may run again', async () => {
  let runs = 0
  const server = one(async (ctx) => {
    const got = await ctx
      .step('work', () => {
        runs++
        if (runs === 1) throw new Error('not this time')
        return runs
      })
      .catch(() => 'failed')
    await ctx.elicit('a', sure, 'A?')
    return `${got} ${runs}`
  })
  assert.equal(await said(server, '2026-07-28'), '2 2')
})

test('what a step returns is seen as JSON, the first time as on every other', async () => {
  const seen: unknown[] = []
  const server = one(async (ctx) => {
    const result = await ctx.step('odd', () => ({ at: new Date(0), gone: undefined, list: [undefined, NaN] }) as never)
    seen.push(result)
    await ctx.elicit('a', sure, 'A?')
    return 'done'
  })
  await said(server, '2026-07-28')
  const json = { at: '1970-01-01T00:00:00.000Z', list: [null, null] }
  assert.deepEqual(seen, [json, json])
})

test('a step that returns nothing is kept too', async () => {
  let runs = 0
  const server = one(async (ctx) => {
    const got = await ctx.step('quiet', () => {
      runs++
      return undefined as never
    })
    await ctx.elicit('a', sure, 'A?')
    return `${String(got)} ${runs}`
  })
  assert.equal(await said(server, '2026-07-28'), 'null 1')
})

for (const [what, odd] of [
  ['a function', () => 1],
  ['a bigint', 1n],
  ['a knot', knot()],
] as const) {
  test(`a step cannot return ${what}`, async () => {
    const client = await clientOf(one(async (ctx) => String(await ctx.step('odd', () => odd as never))))
    const { result, error } = await client.request('tools/call', { name: 't' })
    assert.ok(result?.['isError'] === true || error !== undefined)
  })
}

function knot(): object {
  const tied: Record<string, unknown> = {}
  tied['self'] = tied
  return tied
}

test("one step key twice in one run is a programmer's error", async () => {
  for (const revision of eras) {
    const client = await clientOf(
      one(async (ctx) => {
        await ctx.step('same', () => 1)
        return String(await ctx.step('same', () => 2))
      }),
      { revision },
    )
    const done = await client.request('tools/call', { name: 't' })
    assert.equal(done.result?.['isError'], true)
    assert.match(textOf(done), /"same"/)
  }
})

test('the key that a step is given is the same in every round of a flow, and no other flow has it', async () => {
  const keys: string[] = []
  const server = one(async (ctx) => {
    await ctx
      .step('work', ({ key }) => {
        keys.push(key)
        if (keys.length < 2) throw new Error('not yet')
        return key
      })
      .catch(() => undefined)
    const other = await ctx.step('other', ({ key }) => key)
    keys.push(other)
    await ctx.elicit('a', sure, 'A?')
    return 'done'
  })
  await said(server, '2026-07-28')
  const [first, other, second, again] = keys
  assert.equal(first, second, 'the round that tries again has the key of the one that failed')
  assert.equal(other, again, 'a step that was kept')
  assert.notEqual(first, other)
  const before = keys.length
  await said(server, '2026-07-28')
  assert.equal(keys.slice(before).includes(String(first)), false)
})

test('names that every object inherits are keys like any other', async () => {
  const server = one(async (ctx) => {
    const got = [await ctx.step('__proto__', () => 1), await ctx.step('constructor', () => 2)]
    await ctx.elicit('toString', sure, 'A?')
    return got.join(' ')
  })
  for (const revision of eras) assert.equal(await said(server, revision), '1 2', revision)
})

test('steps at once are each kept', async () => {
  let runs = 0
  const server = one(async (ctx) => {
    const all = await Promise.all(['a', 'b', 'c'].map((name) => ctx.step(name, async () => `${name}${++runs}`)))
    await ctx.elicit('q', sure, 'Q?')
    return `${all.join(' ')} ${runs}`
  })
  assert.equal(await said(server, '2026-07-28'), 'a1 b2 c3 3')
})

test('a step is told when the call is cancelled', async () => {
  let aborted = false
  const server = one((ctx) =>
    ctx.step(
      'slow',
      ({ signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true
            resolve('gave up')
          })
        }),
    ),
  )
  const client = await clientOf(server)
  const id = client.nextId()
  void client.request('tools/call', { name: 't' })
  await new Promise((resolve) => setImmediate(resolve))
  client.notify('notifications/cancelled', { requestId: id })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(aborted, true)
})
