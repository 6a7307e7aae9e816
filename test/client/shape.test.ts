// Defends: what a server answers is what its type says, or a failure that says so; a getter never throws over it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { connected, eras, modern } from './support.ts'
import { everything } from './everything.ts'

const junk = [null, 5, 'x', true, {}, [null], [5], [{}], [{ type: 5 }], [{ type: 'text', text: 5 }]]
const failure = { kind: 'InvalidResult', ran: 'yes' }
const ref = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } } as const

/** A client whose server answers everything but lists with `members`. */
async function answering(revision: string, members: JsonObject) {
  const pair = await connected(everything(), { revision })
  const asked = new Set<unknown>()
  pair.target.alter = (message, way) => {
    if (way === '>' && /call|read|get|complete/.test(String(message.method))) asked.add(message.id)
    if (way === '>' || !asked.has(message.id)) return message
    return { jsonrpc: '2.0', id: message.id ?? null, result: { resultType: 'complete', ...members } }
  }
  return pair
}

for (const revision of eras) {
  test(`${revision}: a call whose content is none rejects, and says that it ran`, async () => {
    for (const content of junk) {
      await using pair = await answering(revision, { content })
      await assert.rejects(pair.client.call('x'), failure, JSON.stringify(content))
    }
  })
}

test('so do resources, prompts and completions', async () => {
  for (const bad of junk) {
    await using pair = await answering(modern, { contents: bad, messages: bad, completion: bad })
    await assert.rejects(pair.client.read('memo://a'), failure, JSON.stringify(bad))
    await assert.rejects(pair.client.get('p'), failure, JSON.stringify(bad))
    await assert.rejects(pair.client.complete(ref), failure, JSON.stringify(bad))
  }
})

test('what an answer has besides is read as it is meant', async () => {
  for (const isError of [null, 5, 'true']) {
    await using pair = await answering(modern, {
      content: [{ type: 'text', text: 'a' }, { type: 'new' }],
      isError,
      _meta: 5,
    })
    const answer = await pair.client.call('x')
    assert.deepEqual([answer.isError, answer.text, answer._meta], [false, 'a', undefined])
  }
  await using pair = await answering(modern, {})
  assert.deepEqual((await pair.client.call('x')).content, [])
})
