import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer, fetchHandler, prompt, tool } from '../../src/index.ts'
import type { Loss } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import { recorder } from '../server/support.ts'

const icons = [{ src: 'https://a.example/a.png' }]
const revision = '2025-03-26'
const sound = { type: 'audio', data: '', mimeType: 'audio/wav' } as const

function server(logger = recorder().logger) {
  return createServer({
    name: 'tested',
    version: '1',
    logger,
    tools: [tool('t', { icons }, () => sound)],
    prompts: [prompt('p', { icons }, () => 'p')],
  })
}

test('what a list cannot say is told each time it is sent, also once its bytes are kept', async () => {
  const losses: Loss[] = []
  const client = await testClient(server(), { revision, onLoss: (loss) => losses.push(loss) })
  for (let times = 0; times < 3; times++) {
    losses.length = 0
    await client.request('tools/list')
    assert.deepEqual(
      losses.map(({ rule, method, path }) => [rule, method, path]),
      [['field-dropped', 'tools/list', 'Tool.icons']],
      `${times}`,
    )
  }
})

test('a listener to losses that throws changes no answer, and stands in the log', async () => {
  const { logger, at } = recorder()
  const onLoss = (): never => {
    throw new Error('no room for losses')
  }
  const deaf = await testClient(server(), { revision: '2024-11-05' })
  const client = await testClient(server(logger), { revision: '2024-11-05', onLoss })
  assert.deepEqual(client.introduction, deaf.introduction)
  for (const [method, params] of [
    ['tools/list', {}],
    ['tools/list', {}],
    ['prompts/list', {}],
    ['tools/call', { name: 't' }],
  ] as const) {
    assert.deepEqual(await client.request(method, params), await deaf.request(method, params))
  }
  const told = at('error').filter(({ message }) => message === 'onLoss threw')
  assert.ok(told.length >= 4, `${told.length}`)
})

test('the log hears of every request that is refused, with its kind', async () => {
  const { logger, lines } = recorder()
  const handler = fetchHandler(server(logger))
  const said = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body,
      }),
    )
  await said('{')
  await said('{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}')
  await said('{}', { 'content-type': 'text/plain' })
  await said('{}', { origin: 'http://elsewhere.example' })
  await (await testClient(server(logger))).request('tools/call', { name: 'absent' })
  assert.deepEqual(
    lines.filter(({ message }) => message === 'a request was refused').map(({ level, fields }) => [level, fields]),
    ['ParseError', 'InvalidRequest', 'UnsupportedMediaType', 'ForeignOrigin', 'UnknownTool'].map((kind) => [
      'debug',
      { kind },
    ]),
  )
})
