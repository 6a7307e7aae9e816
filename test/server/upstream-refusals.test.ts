// What another server refuses in the course of a call is no refusal of this one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer, method, prompt, resource, tool, type Server } from '../../src/index.ts'
import { connect, connectAll, type Client } from '../../src/client.ts'
import { fromWire } from '../../src/refusals.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { clientOf, eras, serverOf, textOf } from './support.ts'

const codes = [-32700, -32600, -32601, -32602, -32002, -32020, -32021, -32022, -32042, -32603, 12345]

/** A server all of whose handlers meet with `met`, and what its log was told. */
function gateway(met: () => Promise<unknown>, options: object = {}) {
  const logged: string[] = []
  const told = (message: string): void => void logged.push(message)
  const meet = async (): Promise<never> => {
    await met()
    throw new TypeError('it was not refused')
  }
  const server = serverOf({
    tools: [tool('go', { annotations: { readOnlyHint: true } }, meet)],
    resources: [resource('doc://go', { name: 'go' }, meet)],
    prompts: [prompt('go', {}, meet)],
    methods: [method('shop/go', {}, meet)],
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: told },
    ...options,
  })
  return { server, logged }
}

for (const revision of eras) {
  for (const code of codes)
    test(`${revision}: ${code} from elsewhere is an error of the handler`, async () => {
      const refused = fromWire({ code, message: 'SECRET words', data: { uri: 'secret://' } }, undefined)
      const { server, logged } = gateway(() => Promise.reject(refused), { maskErrors: true })
      const client = await clientOf(server, { revision })
      const called = await client.request('tools/call', { name: 'go' })
      assert.equal(called.error, undefined)
      assert.equal(called.result?.['isError'], true)
      assert.equal(textOf(called), 'The tool failed')
      assert.deepEqual(logged.splice(0), ['a tool threw'])
      for (const [name, params] of [
        ['resources/read', { uri: 'doc://go' }],
        ['prompts/get', { name: 'go' }],
        ['shop/go', {}],
      ] as const) {
        const { error } = await client.request(name, params)
        assert.equal(error?.code, -32603, name)
        assert.doesNotMatch(JSON.stringify(error), /SECRET|secret/, name)
        assert.equal(logged.splice(0).length > 0, true, name)
      }
    })

  test(`${revision}: a refusal of its own that a handler throws is told as it is`, async () => {
    const { server } = gateway(() => Promise.reject(new Refusal('UnknownResource', { data: { uri: 'doc://go' } })))
    const client = await clientOf(server, { revision })
    const { error } = await client.request('resources/read', { uri: 'doc://go' })
    assert.deepEqual(error?.data, { uri: 'doc://go' })
  })
}

const limited = (): Server =>
  createServer({ name: 'upstream', version: '1', tools: [tool('other', {}, () => 'other')] })

test('words from elsewhere are told like those of any error, where errors are not masked', async () => {
  const { server } = gateway(async () => {
    await using upstream: Client = await connect(limited())
    await upstream.call('absent')
  })
  const called = await (await clientOf(server)).request('tools/call', { name: 'go' })
  assert.equal(called.error, undefined)
  assert.match(textOf(called), /no such tool/)
})

test('a tool that none of many servers has is no tool that this server lacks', async () => {
  const { server } = gateway(async () => {
    await using all = await connectAll({ one: limited() })
    await all.call('absent')
  })
  const called = await (await clientOf(server)).request('tools/call', { name: 'go' })
  assert.equal(called.error, undefined)
  assert.equal(called.result?.['isError'], true)
  assert.match(textOf(called), /No server has a tool called/)
})
