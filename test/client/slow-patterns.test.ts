// Defends: a server's regular expressions do not hold its client up, and those that cannot are still heeded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { form, tool } from '../../src/index.ts'
import { serverOf } from '../server/support.ts'
import { connected, modern } from './support.ts'

const hostile = `${'a'.repeat(40)}!`

/** A tool that answers `{ text }` and is listed with a `pattern` for it. */
async function listing(text: string, pattern: string, warnings: string[]) {
  const says = tool('says', { output: { type: 'object' } }, () => ({ text }))
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
  const pair = await connected(serverOf({ tools: [says] }), { revision: modern, logger })
  const outputSchema = { type: 'object', properties: { text: { type: 'string', pattern } } }
  pair.target.alter = (message, way) => {
    const { result } = message as { readonly result?: JsonObject }
    if (way === '>' || !Array.isArray(result?.tools)) return message
    return {
      ...message,
      result: { ...result, tools: result.tools.map((one: JsonObject) => ({ ...one, outputSchema })) },
    }
  }
  await pair.client.tools()
  return pair
}

test('a slow pattern of an output schema is not run, and a quick one is', async () => {
  const warnings: string[] = []
  await using slow = await listing(hostile, '^(a+)+$', warnings)
  assert.deepEqual((await slow.client.call('says')).structured, { text: hostile })
  assert.equal(warnings.filter((one) => one.startsWith('patterns of an output schema')).length, 1)
  await using quick = await listing(hostile, '^a+$', warnings)
  await assert.rejects(quick.client.call('says'), { kind: 'InvalidResult', ran: 'yes' })
})

test('a slow pattern of a form is not run, and a quick one is', async () => {
  const field = form({ type: 'object', properties: { text: { type: 'string' } } })
  const asks = tool('asks', {}, async (_args, ctx) => JSON.stringify(await ctx.elicit('text', field, 'Text?')))
  for (const [pattern, fits] of [
    ['^(a+)+$', true],
    ['^a+$', false],
  ] as const) {
    const elicit = () => ({ action: 'accept' as const, content: { text: hostile } })
    await using pair = await connected(serverOf({ tools: [asks] }), { revision: modern, elicit })
    pair.target.alter = (message) =>
      JSON.parse(
        JSON.stringify(message).replace('"text":{"type":"string"}', `"text":{"type":"string","pattern":"${pattern}"}`),
      ) as JsonObject
    const outcome = await pair.client.call('asks').catch((error: unknown) => error)
    if (fits) assert.match(Object(outcome).text, /accept/)
    else assert.match(Object(outcome).message, /does not fit the form/)
  }
})
