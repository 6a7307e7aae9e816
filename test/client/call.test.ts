// Defends: a client calls a tool on a server of any one revision, and knows what was agreed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client.ts'
import { isCallFailed } from '../../src/client.ts'
import { isRefusal } from '../../src/index.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget } from './memory-link.ts'
import { add, connected, quick, revisions, toolOf } from './support.ts'

for (const revision of revisions) {
  test(`${revision}: connects, lists and calls`, async () => {
    await using pair = await connected(serverOf({ tools: [add], instructions: 'add up' }), {
      serve: { revisions: [revision] },
    })
    const { client } = pair
    assert.equal(client.revision, revision)
    assert.equal(client.server.info?.name, 'tested')
    assert.equal(client.server.instructions, 'add up')
    assert.equal(client.features.has('tools'), true)
    assert.deepEqual(
      (await client.tools()).map(({ name }) => name),
      ['add'],
    )
    const answer = await client.call('add', { a: 1, b: 2 })
    assert.equal(answer.isError, false)
    assert.deepEqual(JSON.parse(answer.text), { sum: 3 })
    if (client.features.has('structuredContent')) assert.deepEqual(answer.structured, { sum: 3 })
    else assert.throws(() => answer.structured, { kind: 'InvalidResult', ran: 'yes' })
  })

  test(`${revision}: a pinned client meets a server of every revision`, async () => {
    await using pair = await connected(serverOf({ tools: [add] }), { revision })
    assert.equal(pair.client.revision, revision)
    assert.equal((await pair.client.call('add', { a: 1, b: 2 })).isError, false)
  })
}

test('a tool that says no is an answer, whose structured content throws its words', async () => {
  await using pair = await connected(serverOf({ tools: [toolOf('no', () => Promise.reject(new Error('not today')))] }))
  const answer = await pair.client.call('no')
  assert.equal(answer.isError, true)
  assert.equal(answer.text, 'not today')
  assert.throws(() => answer.structured, { kind: 'InvalidResult', message: 'not today' })
})

test('a refusal is thrown with its kind, its code, and the promise that nothing ran', async () => {
  await using pair = await connected()
  const error = await pair.client.call('nothing').catch((thrown: unknown) => thrown)
  assert.ok(isRefusal(error))
  assert.deepEqual([error.kind, error.code, error.ran], ['MalformedParams', -32602, 'no'])
})

test('a call in flight when the client closes may have run; a later one did not', async () => {
  const { client } = await connected(
    serverOf({
      tools: [toolOf('wait', ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))],
    }),
  )
  const pending = client.call('wait').catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 10))
  await client.close()
  const error = await pending
  assert.ok(isCallFailed(error))
  assert.deepEqual([error.kind, error.ran], ['Cancelled', 'unknown'])
  await assert.rejects(client.call('wait'), { kind: 'Cancelled', ran: 'no' })
})

test('a server and a client that share no revision are told so', async () => {
  const target = memoryTarget(serverOf({ tools: [add] }), { revisions: ['2025-06-18'] })
  await assert.rejects(connect(target, quick({ revision: '2024-11-05' })), { kind: 'NoCommonRevision', ran: 'no' })
  const other = memoryTarget(serverOf({ tools: [add] }), { revisions: ['2026-07-28'] })
  await assert.rejects(connect(other, quick({ revision: '2025-06-18' })), { kind: 'NoCommonRevision', ran: 'no' })
})
