import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryLink } from '../../../src/transport/dial/memory.ts'
import { connectInMemory } from '../../../src/transport/serve/memory.ts'
import { call, modernCall, modern, peerOf, said, standIn } from '../serve/stand-in.ts'
import { failureOf, talk } from './support.ts'

const legacy = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

for (const revision of legacy) {
  test(`memory: ${revision}: a handshake, a call, a question of the server`, async () => {
    const { agree, ask, send, heard, link, answer } = await talk(
      createMemoryLink(() => connectInMemory(peerOf(standIn()))),
    )
    assert.equal((await agree(revision)).result?.['protocolVersion'], revision)
    assert.equal(said(await ask(call(1, 'echo', { text: 'hi' }))), 'hi')
    await send(call(2, 'progress', { steps: 3 }))
    await answer(2)
    assert.equal(heard.messages.filter(({ message }) => message.method === 'notifications/progress').length, 3)
    await link.close()
    assert.deepEqual(heard.ends, [])
  })
}

test('memory: a request that says everything itself', async () => {
  const { ask, link } = await talk(createMemoryLink(() => connectInMemory(peerOf(standIn()))))
  const found = await ask(modern('d', 'server/discover'))
  assert.ok(Array.isArray(found.result?.['supportedVersions']))
  assert.equal(said(await ask(modernCall(1, 'echo', { text: 'hi' }))), 'hi')
  await link.close()
})

test('memory: an end that goes away is told once; nothing is sent afterwards', async () => {
  let leave = (): void => {}
  let hear = (_text: string): void => {}
  const sent: string[] = []
  const { heard, send, link } = await talk(
    createMemoryLink(() => ({
      send: (text) => void sent.push(text),
      onMessage: (listener) => (hear = listener),
      onClose: (listener) => (leave = listener),
      close: () => void sent.push('closed'),
    })),
  )
  hear('no JSON')
  hear('{"level":"info"}')
  hear('[{"jsonrpc":"2.0","method":"a"},7]')
  hear('x'.repeat(5_000))
  assert.deepEqual(
    heard.messages.map(({ message }) => message.method),
    ['a'],
  )
  assert.deepEqual(
    heard.noises.map(({ from, text }) => [from, text.length]),
    [
      ['stream', 7],
      ['stream', 16],
      ['stream', 34],
      ['stream', 1_024],
    ],
  )
  leave()
  leave()
  assert.deepEqual(
    heard.ends.map(({ kind, ran }) => [kind, ran]),
    [['ConnectionLost', 'unknown']],
  )
  const failure = await failureOf(send(call(1, 'echo')))
  assert.deepEqual([failure.kind, failure.ran], ['ConnectionLost', 'no'])
  hear('{"jsonrpc":"2.0","method":"late"}')
  assert.equal(heard.messages.length, 1)
  await link.close()
  assert.deepEqual(sent, ['closed'])
})

test('memory: what cannot be connected is unreachable', async () => {
  const failure = await failureOf(talk(createMemoryLink(() => Promise.reject(new Error('away')))))
  assert.deepEqual([failure.kind, failure.ran], ['Unreachable', 'no'])
})
