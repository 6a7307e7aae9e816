import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs } from '../../src/codec/registry.ts'
import type { RequestCodec } from '../../src/codec/codec.ts'
import type { JsonObject } from '../../src/model/json.ts'

const codecs = createCodecs()
const ask = (revision: string, method: string): RequestCodec => {
  const found = codecs.get(revision)?.asks.get(method)
  assert.ok(found, `${revision} ${method}`)
  return found
}
const form = (properties: JsonObject): JsonObject => ({
  mode: 'form',
  message: 'm',
  requestedSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties,
    required: ['a'],
  },
})

test('which revision asks what', () => {
  const asks = Object.fromEntries(
    codecs.all.map((codec) => [codec.revision, [...codec.asks.keys()].toSorted().join(' ')]),
  )
  assert.deepEqual(asks, {
    '2024-11-05': 'ping roots/list sampling/createMessage',
    '2025-03-26': 'ping roots/list sampling/createMessage',
    '2025-06-18': 'elicitation/create ping roots/list sampling/createMessage',
    '2025-11-25':
      'elicitation/create ping roots/list sampling/createMessage tasks/cancel tasks/get tasks/list tasks/result',
    '2026-07-28': 'elicitation/create roots/list sampling/createMessage',
  })
})

test('2025-06-18 has forms without mode, defaults and titled choices', () => {
  const elicit = ask('2025-06-18', 'elicitation/create')
  const params = form({
    a: { type: 'string', title: 'A', default: 'x', minLength: 1 },
    b: { type: 'boolean', default: true },
    c: { type: 'integer', default: 3, minimum: 0 },
    d: { type: 'string', title: 'D', oneOf: [{ const: 'r', title: 'Red' }, { const: 'g' }], default: 'r' },
    e: { type: 'string', enum: ['x', 'y'] },
  })
  const losses: string[] = []
  assert.equal(elicit.refuses(params), false)
  assert.deepEqual(
    elicit.params.encode(params, (rule) => losses.push(rule)),
    {
      message: 'm',
      requestedSchema: {
        type: 'object',
        required: ['a'],
        properties: {
          a: { type: 'string', title: 'A', minLength: 1 },
          b: { type: 'boolean', default: true },
          c: { type: 'integer', minimum: 0 },
          d: { type: 'string', title: 'D', enum: ['r', 'g'], enumNames: ['Red', 'g'] },
          e: { type: 'string', enum: ['x', 'y'] },
        },
      },
    },
  )
  assert.deepEqual(losses, ['default-dropped', 'default-dropped', 'titles-to-enum-names', 'default-dropped'])
})

test('2025-06-18 cannot ask for several choices, nor to visit a URL', () => {
  const elicit = ask('2025-06-18', 'elicitation/create')
  assert.equal(elicit.refuses(form({ a: { type: 'array', items: { enum: ['x'] } } })), true)
  assert.equal(elicit.refuses({ mode: 'url', message: 'm', url: 'https://a.example' }), true)
  assert.equal(elicit.refuses({ message: 'm' }), false)
})

test('later revisions ask forms as they are, and URLs by their own names', () => {
  const params = form({
    a: { type: 'array', items: { enum: ['x'] }, default: ['x'] },
    b: { type: 'string', default: 'y' },
  })
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const elicit = ask(revision, 'elicitation/create')
    assert.equal(elicit.refuses(params), false)
    assert.deepEqual(elicit.params.encode(params, assert.fail), params)
  }
  const url = { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' }
  assert.deepEqual(ask('2025-11-25', 'elicitation/create').params.encode(url, assert.fail), url)
  const { elicitationId: _, ...bare } = url
  assert.deepEqual(ask('2026-07-28', 'elicitation/create').params.encode(url, assert.fail), bare)
})

test('a model is asked with tools, several blocks or new kinds only where the revision can', () => {
  const message = (content: JsonObject | JsonObject[]): JsonObject => ({
    maxTokens: 5,
    messages: [{ role: 'user', content }],
  })
  const text = { type: 'text', text: 'x' }
  const questions: Record<string, JsonObject> = {
    text: message(text),
    'one block': message([text]),
    'two blocks': message([text, text]),
    'no block': message([]),
    audio: message({ type: 'audio', data: 'A', mimeType: 'audio/wav' }),
    'tool use': message([{ type: 'tool_use', id: 'i', name: 'n', input: {} }]),
    unknown: message({ type: 'x-hologram' }),
    tools: { ...message(text), tools: [] },
    toolChoice: { ...message(text), toolChoice: { mode: 'auto' } },
  }
  const refused = (revision: string): string[] =>
    Object.keys(questions).filter((name) => ask(revision, 'sampling/createMessage').refuses(questions[name]!))
  assert.deepEqual(refused('2024-11-05'), ['two blocks', 'no block', 'audio', 'tool use', 'tools', 'toolChoice'])
  assert.deepEqual(refused('2025-03-26'), ['two blocks', 'no block', 'tool use', 'tools', 'toolChoice'])
  assert.deepEqual(refused('2025-06-18'), ['two blocks', 'no block', 'tool use', 'tools', 'toolChoice'])
  assert.deepEqual(refused('2025-11-25'), [])
  assert.deepEqual(refused('2026-07-28'), [])
})

test('a message of one block is that block where lists are unknown', () => {
  const block = { type: 'text', text: 'x' }
  const params = { maxTokens: 5, messages: [{ role: 'user', content: [block] }] }
  const encoded = codecs.all.map((codec) =>
    codec.asks.get('sampling/createMessage')!.params.encode(params, assert.fail),
  )
  const single = { maxTokens: 5, messages: [{ role: 'user', content: block }] }
  assert.deepEqual(encoded, [params, params, single, single, single])
})

test('an answer of several blocks becomes one text where a revision has room for one', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'audio', mimeType: 'audio/wav', data: 'A' },
  ]
  const losses: string[] = []
  const sample = ask('2025-06-18', 'sampling/createMessage').result
  assert.deepEqual(
    sample.encode({ role: 'assistant', model: 'm', content }, (rule) => losses.push(rule)),
    {
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'a\n[audio: audio/wav]' },
    },
  )
  assert.deepEqual(losses, ['blocks-to-one'])
})

test('an incoming ask is checked for its shape', () => {
  const elicit = (revision: string, params: JsonObject): unknown => ask(revision, 'elicitation/create').check(params)
  const shape = { type: 'object', properties: {} }
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    assert.equal(elicit(revision, { message: 'm', requestedSchema: shape }), undefined)
    assert.equal(elicit(revision, { message: 'm' }), 'MalformedParams')
    assert.equal(elicit(revision, { message: 5, requestedSchema: shape }), 'MalformedParams')
    assert.equal(elicit(revision, { message: 'm', requestedSchema: [] }), 'MalformedParams')
  }
  assert.equal(
    elicit('2025-11-25', { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' }),
    undefined,
  )
  assert.equal(elicit('2026-07-28', { mode: 'url', message: 'm' }), 'MalformedParams')
  assert.equal(elicit('2026-07-28', { mode: 'smell', message: 'm', requestedSchema: shape }), 'MalformedParams')
  assert.equal(ask('2026-07-28', 'sampling/createMessage').check({ messages: [], maxTokens: '5' }), 'MalformedParams')
  assert.equal(ask('2026-07-28', 'sampling/createMessage').check({ messages: [], maxTokens: 5 }), undefined)
  assert.equal(ask('2026-07-28', 'roots/list').check({}), undefined)
})
