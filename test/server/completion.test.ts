import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prompt, template } from '../../src/index.ts'
import { clientOf, eras, recorder, serverOf, sure } from './support.ts'
import type { Response } from '../../src/testing.ts'

const many = Array.from({ length: 250 }, (_, n) => `v${n}`)

const seen: unknown[] = []
const server = serverOf({
  prompts: [
    prompt(
      'p',
      {
        arguments: {
          many: { complete: () => many },
          exact: { complete: () => many.slice(0, 100) },
          later: { complete: async (typed, given) => (seen.push([typed, { ...given }]), ['x']) },
          broken: { complete: () => Promise.reject(new Error('no dictionary')) },
          asking: { complete: async (_, __, ctx) => [(await ctx.elicit('a', sure, 'A?')).action] },
          none: {},
        },
      },
      () => 'p',
    ),
  ],
  resources: [template('a://{b}/{c}', { name: 'a', complete: { b: (typed) => [`${typed}!`] } }, () => 'a')],
})

async function complete(
  ref: object,
  name: string,
  value = '',
  more: object = {},
  revision = '2026-07-28',
): Promise<Response> {
  const client = await clientOf(server, { revision })
  return client.request('completion/complete', { ref, argument: { name, value }, ...more } as never)
}
const p = { type: 'ref/prompt', name: 'p' }
const a = { type: 'ref/resource', uri: 'a://{b}/{c}' }
const completion = ({ result }: Response): unknown => result?.['completion']

test('at most 100 values are sent, and it is told that there are more', async () => {
  for (const revision of eras) {
    assert.deepEqual(completion(await complete(p, 'many', '', {}, revision)), {
      values: many.slice(0, 100),
      total: 250,
      hasMore: true,
    })
    assert.deepEqual(completion(await complete(p, 'exact', '', {}, revision)), {
      values: many.slice(0, 100),
      total: 100,
      hasMore: false,
    })
  }
})

test('a completer gets what was typed and what is given already', async () => {
  await complete(p, 'later', 'ty', { context: { arguments: { many: 'v1' } } })
  await complete(p, 'later', '')
  assert.deepEqual(seen, [
    ['ty', { many: 'v1' }],
    ['', {}],
  ])
})

test('a variable of a template is completed by the text of the template', async () => {
  assert.deepEqual(completion(await complete(a, 'b', 'x')), { values: ['x!'], total: 1, hasMore: false })
  assert.deepEqual(completion(await complete(a, 'c')), { values: [], total: 0, hasMore: false })
  assert.equal((await complete(a, 'd')).error?.code, -32602)
  assert.equal((await complete({ ...a, uri: 'a://x/y' }, 'b')).error?.code, -32602)
})

test('an argument without a completer has no values; one that is not there is refused', async () => {
  assert.deepEqual(completion(await complete(p, 'none')), { values: [], total: 0, hasMore: false })
  for (const name of ['nope', '__proto__', 'toString', ''])
    assert.equal((await complete(p, name)).error?.code, -32602, name)
})

test('a completer that fails says why, and is told to the log', async () => {
  const { error } = await complete(p, 'broken')
  assert.deepEqual([error?.code, error?.message], [-32603, 'no dictionary'])
  const { logger, at } = recorder()
  const masked = serverOf({
    maskErrors: true,
    logger,
    prompts: [
      prompt('p', { arguments: { broken: { complete: () => Promise.reject(new Error('no dictionary')) } } }, () => 'p'),
    ],
  })
  const client = await clientOf(masked)
  const answer = await client.request('completion/complete', { ref: p, argument: { name: 'broken', value: '' } })
  assert.equal(answer.error?.message, 'The request failed.')
  assert.equal(at('error').length > 0, true)
})

test('a completer that asks in rounds, for which the method has no result, is refused', async () => {
  assert.equal((await complete(p, 'asking')).error?.code, -32603)
})
