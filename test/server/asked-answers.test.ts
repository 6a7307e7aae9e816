// What a client answers reaches a handler only in the shape that its types promise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool } from '../../src/index.ts'
import type { Context } from '../../src/index.ts'
import { clientOf, serverOf, textOf } from './support.ts'

const text = { type: 'text', text: 'Ho' }
const sampled = { role: 'assistant', content: text, model: 'm' }
const asking: Record<string, (ctx: Context) => Promise<unknown>> = {
  sample: (ctx) =>
    ctx.sample('s', { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 1 }),
  roots: (ctx) => ctx.roots(),
}
const malformed: Record<string, readonly object[]> = {
  sample: [
    { ...sampled, role: 'system' },
    { ...sampled, model: 5 },
    { ...sampled, stopReason: 5 },
    { ...sampled, content: null },
    { ...sampled, content: 'Ho' },
    { ...sampled, content: [null] },
    { ...sampled, content: [text, 'Ho'] },
    { ...sampled, content: { type: 'text' } },
    { ...sampled, content: { type: 'image', data: 5, mimeType: 'image/png' } },
    { ...sampled, content: { type: 'tool_use', id: '1', name: 't' } },
    { ...sampled, content: { type: 'tool_result', toolUseId: '1', content: [null] } },
    {},
  ],
  roots: [
    {},
    { roots: null },
    { roots: [null] },
    { roots: ['file:///a'] },
    { roots: [{ uri: 5 }] },
    { roots: [{ uri: 'file:///a', name: 5 }] },
  ],
}
const whole: Record<string, readonly object[]> = {
  sample: [
    sampled,
    { ...sampled, content: [text, text], stopReason: 'endTurn' },
    { ...sampled, content: { type: 'tool_use', id: '1', name: 't', input: {} } },
    { ...sampled, role: 'user', content: { type: 'audio', data: 'AA==', mimeType: 'audio/wav' } },
  ],
  roots: [{ roots: [] }, { roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'b' }] }],
}

for (const [name, ask] of Object.entries(asking)) {
  const said: unknown[] = []
  const server = serverOf({ tools: [tool('t', {}, async (_, ctx) => (said.push(await ask(ctx)), 'said'))] })

  test(`${name}: a malformed answer never reaches the handler, live or in rounds`, async () => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      for (const answer of malformed[name] ?? []) {
        const client = await clientOf(server, { revision, answer: () => answer as never })
        const { result, error } = await client.request('tools/call', { name: 't' })
        assert.ok(error ?? result?.['isError'], JSON.stringify(answer))
        await client.close()
      }
    }
    assert.deepEqual(said, [])
  })

  test(`${name}: a whole answer does`, async () => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      for (const answer of whole[name] ?? []) {
        const client = await clientOf(server, { revision, answer: () => answer as never })
        assert.equal(textOf(await client.request('tools/call', { name: 't' })), 'said', JSON.stringify(answer))
        await client.close()
      }
    }
  })
}
