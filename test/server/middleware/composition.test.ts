// The onion: which layers stand around what, in which order, and that none cost nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compose, type Layer } from '../../../src/model/compose.ts'
import { isRefusal, prompt, Refusal, resource, tool } from '../../../src/index.ts'
import type { Middleware } from '../../../src/middleware.ts'
import { clientOf, eras, serverOf, textOf } from '../support.ts'

const groups = ['all', 'call', 'read', 'get', 'list', 'complete', 'listen', 'custom'] as const

/** A layer of every group that notes when it is entered and left. */
function noting(label: string, notes: string[]): Middleware {
  const layers = groups.map((group) => [
    group,
    async (call: never, context: never, next: (call: never, context: never) => Promise<unknown>) => {
      notes.push(`${label} ${group} in`)
      try {
        return await next(call, context)
      } finally {
        notes.push(`${label} ${group} out`)
      }
    },
  ])
  return Object.fromEntries(layers) as Middleware
}

const offer = {
  tools: [tool('echo', {}, () => 'echo')],
  resources: [resource('doc://one', { name: 'one' }, () => '1')],
  prompts: [prompt('hello', { arguments: { who: { complete: () => ['ada'] } } }, () => 'hello')],
}

test('without layers the result is the core itself', () => {
  const core = async (input: number): Promise<number> => input
  assert.equal(compose([], core), core)
})

for (const revision of eras)
  test(`${revision}: each operation has its own group, within all, the first middleware outermost`, async () => {
    const notes: string[] = []
    const server = serverOf({ ...offer, middleware: [noting('a', notes), noting('b', notes)] }).method(
      'app/ping',
      {},
      () => ({}),
    )
    const client = await clientOf(server, { revision })
    const requests = {
      call: ['tools/call', { name: 'echo' }],
      read: ['resources/read', { uri: 'doc://one' }],
      get: ['prompts/get', { name: 'hello' }],
      complete: [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'hello' }, argument: { name: 'who', value: '' } },
      ],
      custom: ['app/ping', {}],
    } as const
    const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']
    const around = (group: string): string[] => {
      const inwards = [`a all`, `a ${group}`, `b all`, `b ${group}`]
      return [...inwards.map((layer) => `${layer} in`), ...inwards.reverse().map((layer) => `${layer} out`)]
    }
    for (const [group, method, params] of [
      ...Object.entries(requests).map(([group, [method, params]]) => [group, method, params] as const),
      ...lists.map((method) => ['list', method, {}] as const),
    ]) {
      notes.length = 0
      assert.equal((await client.request(method, params)).error, undefined, method)
      assert.deepEqual(notes, around(group), method)
    }
  })

test('a stream that listens passes its group', async () => {
  const notes: string[] = []
  const client = await clientOf(serverOf({ ...offer, middleware: [noting('a', notes)] }))
  const requestId = client.nextId()
  void client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })
  while (client.heard.length === 0) await new Promise((resolve) => setImmediate(resolve))
  client.notify('notifications/cancelled', { requestId })
  while (notes.length < 4) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(notes, ['a all in', 'a listen in', 'a listen out', 'a all out'])
})

test('an operation of no group has the layers of all only', async () => {
  const notes: string[] = []
  const client = await clientOf(serverOf({ ...offer, middleware: [noting('a', notes)] }), { revision: '2025-11-25' })
  await client.request('logging/setLevel', { level: 'info' })
  await client.request('resources/subscribe', { uri: 'doc://one' })
  assert.deepEqual(notes, ['a all in', 'a all out', 'a all in', 'a all out'])
})

test('a layer may change what goes in and what comes out, answer by itself, and refuse', async () => {
  const layers: Middleware = {
    call: async (call, context, next) => {
      const { name } = call.params
      if (name === 'early') return { content: [{ type: 'text', text: 'early' }] }
      if (name === 'refused') throw new Refusal('UnknownTool')
      const result = await next({ ...call, params: { ...call.params, name: 'echo' } }, context)
      return { ...result, _meta: { was: name } }
    },
  }
  const client = await clientOf(serverOf({ ...offer, middleware: [layers] }))
  assert.equal(textOf(await client.request('tools/call', { name: 'early' })), 'early')
  const renamed = await client.request('tools/call', { name: 'alias' })
  assert.equal(textOf(renamed), 'echo')
  assert.equal((renamed.result?.['_meta'] as { was: string }).was, 'alias')
  assert.equal((await client.request('tools/call', { name: 'refused' })).error?.code, -32602)
})

test('a layer sees refusals and may turn them into results', async () => {
  const kinds: string[] = []
  const layers: Middleware = {
    call: async (call, context, next) => {
      try {
        return await next(call, context)
      } catch (thrown) {
        if (!isRefusal(thrown)) throw thrown
        kinds.push(thrown.kind)
        return { isError: true, content: [{ type: 'text', text: 'mended' }] }
      }
    },
  }
  const client = await clientOf(serverOf({ ...offer, middleware: [layers] }))
  assert.equal(textOf(await client.request('tools/call', { name: 'absent' })), 'mended')
  assert.deepEqual(kinds, ['UnknownTool'])
})

test('a layer that breaks is told as any fault of the server, without its words', async () => {
  const broken: Middleware = {
    all: async () => {
      throw new Error('a secret')
    },
  }
  const client = await clientOf(serverOf({ ...offer, middleware: [broken] }))
  const { error } = await client.request('tools/list')
  assert.equal(error?.code, -32603)
  assert.doesNotMatch(error.message, /secret/)
})

test('what a layer throws at once comes to the layers around it as a rejection', async () => {
  const ended: string[] = []
  const around: Layer<string, string, string> = (input, context, next) =>
    next(input, context).finally(() => ended.push('around'))
  const broken: Layer<string, string, string> = () => {
    throw new Error('at once')
  }
  const run = compose([around, broken], async () => 'core')
  await assert.rejects(run('a', 'b'), /at once/)
  assert.deepEqual(ended, ['around'])
})
