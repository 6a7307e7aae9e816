import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inputRequired, result, tool } from '../../../src/index.ts'
import type { ContentBlock } from '../../../src/index.ts'
import { resultCap } from '../../../src/middleware.ts'
import { clientOf, eras, serverOf, textOf } from '../support.ts'

const answering = (answer: () => ReturnType<typeof result> | readonly ContentBlock[] | string, maxBytes?: number) =>
  serverOf({ tools: [tool('big', {}, answer)], middleware: [resultCap(maxBytes === undefined ? {} : { maxBytes })] })

for (const revision of eras) {
  test(`${revision}: text over the cap is cut, and says by how much`, async () => {
    const client = await clientOf(
      answering(() => 'a'.repeat(5_000), 1_000),
      { revision },
    )
    const text = textOf(await client.request('tools/call', { name: 'big' }))
    const [kept = '', note] = text.split('\n')
    assert.match(kept, /^a+$/)
    assert.equal(note, `[cut: ${5_000 - kept.length} more bytes]`)
    assert.ok(kept.length >= 900 && kept.length <= 1_000)
  })

  test(`${revision}: a picture that does not fit is named in its place, what fits stays`, async () => {
    const picture = { type: 'image', data: 'A'.repeat(4_000), mimeType: 'image/png' } as const
    const client = await clientOf(
      answering(() => [{ type: 'text', text: 'here' }, picture], 1_000),
      { revision },
    )
    assert.match(
      textOf(await client.request('tools/call', { name: 'big' })),
      /^here\n\[image of 40\d\d bytes left out: over the size limit\]$/,
    )
  })

  test(`${revision}: structured content over the cap is an error that says what to do`, async () => {
    const client = await clientOf(
      answering(() => result({ structuredContent: { a: 'a'.repeat(2_000) } }), 1_000),
      { revision },
    )
    const { result: answer } = await client.request('tools/call', { name: 'big' })
    assert.equal(answer?.['isError'], true)
    assert.equal(answer['structuredContent'], undefined)
    assert.match(textOf({ result: answer }), /has 2008 bytes, more than the 1000 .* Ask for less/)
  })
}

test('what fits is passed on as it is', async () => {
  const content = [{ type: 'text', text: 'fits' }] as const
  const client = await clientOf(answering(() => content, JSON.stringify(content).length))
  assert.deepEqual((await client.request('tools/call', { name: 'big' })).result?.['content'], content)
})

test('the default is 256 KiB', async () => {
  const client = await clientOf(answering(() => 'a'.repeat(256 * 1024 - 100)))
  assert.doesNotMatch(textOf(await client.request('tools/call', { name: 'big' })), /cut/)
  const over = await clientOf(answering(() => 'a'.repeat(256 * 1024)))
  assert.match(textOf(await over.request('tools/call', { name: 'big' })), /\[cut: \d+ more bytes\]$/)
})

test('many small blocks are no way around the cap', async () => {
  const content = Array.from({ length: 10_000 }, (_, at) => ({ type: 'text', text: `block ${at}` }) as const)
  const client = await clientOf(answering(() => content, 1_000))
  const answer = await client.request('tools/call', { name: 'big' })
  assert.ok(JSON.stringify(answer).length < 1_500)
  const lines = textOf(answer).split('\n')
  const blocks = (answer.result?.['content'] as readonly unknown[]).length
  assert.equal(lines[0], 'block 0')
  assert.equal(lines.at(-1), `[${10_000 - (blocks - 1)} more left out: over the size limit]`)
})

test('a question to the client is no result to cut', async () => {
  const asks = inputRequired({ inputRequests: { roots: { method: 'roots/list' } } })
  const server = serverOf({ tools: [tool('ask', {}, () => asks)], middleware: [resultCap({ maxBytes: 1 })] })
  const { result: answer } = await (await clientOf(server)).request('tools/call', { name: 'ask' })
  assert.equal(answer?.['resultType'], 'input_required')
  assert.ok(answer['inputRequests'])
})

const cap = async (content: readonly ContentBlock[], maxBytes: number): Promise<readonly ContentBlock[]> => {
  const { call } = resultCap({ maxBytes })
  const asked = { method: 'tools/call', params: { name: 't' }, meta: {} } as const
  const capped = await call?.(asked, {} as never, async () => ({ content }))
  return (capped as unknown as { content: readonly ContentBlock[] }).content
}
const note = /\n\[cut: \d+ more bytes\]$/

test('law: text is never cut within a character, and what is left of a block is within the cap', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({
        unit: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 1 }), fc.constantFrom('"', '\n', '\u0001')),
      }),
      fc.integer({ min: 0, max: 400 }),
      async (text, maxBytes) => {
        const content = [{ type: 'text', text: text.repeat(20) } as const]
        const [block] = await cap(content, maxBytes)
        assert.ok(block?.type === 'text')
        if (block.text === content[0]?.text || /^\[text of \d+ bytes left out/.test(block.text)) return
        const kept = block.text.replace(note, '')
        assert.notEqual(kept, block.text)
        assert.ok(content[0]?.text.startsWith(kept))
        assert.doesNotMatch(kept, /\uFFFD/)
        assert.ok(Buffer.byteLength(JSON.stringify([block])) <= maxBytes + 2, `${JSON.stringify(block)} in ${maxBytes}`)
      },
    ),
    { numRuns: 300 },
  )
})

test('what a block carries beside its text counts, too', async () => {
  const [cutOff] = await cap([{ type: 'text', text: 'a'.repeat(990) }], 1_000)
  assert.ok(cutOff?.type === 'text')
  assert.match(cutOff.text, /\[cut: \d\d more bytes\]$/)
  const [leftOut] = await cap([{ type: 'text', text: 'a', _meta: { much: 'b'.repeat(5_000) } }], 1_000)
  assert.deepEqual(leftOut, { type: 'text', text: '[text of 5046 bytes left out: over the size limit]' })
})
