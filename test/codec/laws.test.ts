import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCodecs, revisions } from '../../src/codec/registry.ts'
import { content, results } from './samples.ts'
import type { Codec, Convert, RequestCodec } from '../../src/codec/codec.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'

const codecs = createCodecs()
const ignore = (): void => {}
/** By name, so that a counterexample prints the name. */
const anyRevision = fc.constantFrom(...codecs.supported)

/** Objects made of the names that nouns have, with anything at all as their values, so that every branch is met. */
const names = [
  ...new Set(revisions().flatMap(({ nouns }) => Object.values(nouns).flatMap((fields) => Object.keys(fields)))),
]
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'toString', 'constructor', 'x-vendor') },
)
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    fc.constantFrom<Json>(
      null,
      true,
      5,
      '',
      'text',
      'audio',
      'resource_link',
      'tool_use',
      'elicitation/create',
      'input_required',
      'task',
      'url',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}))
const anyObject = fc
  .array(fc.tuple(key, anyValue), { maxLength: 6 })
  .map((entries): JsonObject => Object.fromEntries(entries))

const requestsOf = (codec: Codec): RequestCodec[] => [
  ...codec.requests.values(),
  ...codec.asks.values(),
  codec.introduction,
  codec.foreign,
]
const convertsOf = (codec: Codec): Convert[] => [
  ...requestsOf(codec).flatMap(({ params, result }) => [params, result]),
  ...[...codec.notifications.values(), ...codec.clientNotifications.values()].map(({ params }) => params),
  codec.clientCapabilities,
  codec.serverCapabilities,
  codec.implementation,
]

test('checking, decoding and encoding never throw on any JSON, nor change it', () => {
  fc.assert(
    fc.property(anyObject, anyRevision, (object, revision) => {
      const codec = codecs.get(revision)!
      const before = structuredClone(object)
      for (const request of requestsOf(codec)) {
        request.check(object)
        request.refuses(object)
      }
      for (const convert of convertsOf(codec)) {
        convert.decode(object)
        convert.encode(object, ignore)
      }
      codec.envelope?.read(object)
      assert.deepEqual(object, before)
    }),
    { numRuns: 300 },
  )
})

test('what has been encoded is not projected any further', () => {
  fc.assert(
    fc.property(anyObject, anyRevision, (object, revision) => {
      const codec = codecs.get(revision)!
      for (const { result, params } of requestsOf(codec)) {
        for (const convert of [result, params]) {
          const once = convert.encode(object, ignore)
          assert.deepEqual(convert.encode(convert.decode(once), ignore), once)
        }
      }
    }),
    { numRuns: 200 },
  )
})

/** A model's members in any selection, so that each is met with and without the others. */
function partsOf(model: JsonObject): fc.Arbitrary<JsonObject> {
  return fc.subarray(Object.keys(model)).map((keys) => Object.fromEntries(keys.map((name) => [name, model[name]])))
}
const sampled = fc.oneof(
  ...Object.entries(results).flatMap(([method, samples]) =>
    samples.map(([, model]) => partsOf(model).map((parts) => [method, parts] as const)),
  ),
  fc.subarray([...content]).map((blocks) => ['tools/call', { content: blocks }] as const),
)

test('what a revision can say comes back as it was; where anything is reported, something differs', () => {
  fc.assert(
    fc.property(sampled, anyRevision, ([method, model], revision) => {
      const codec = codecs.get(revision)!
      const request = codec.requests.get(method)
      if (!request) return
      const losses: string[] = []
      const back = request.result.decode(request.result.encode(model, (rule) => losses.push(rule)))
      const expected = Object.fromEntries(Object.entries(model).filter(([name]) => !isHint(name)))
      const seen = Object.fromEntries(
        Object.entries(back).filter(([name]) => !isHint(name) && (name in expected || name !== 'content')),
      )
      if (losses.length === 0) assert.deepEqual(withTimes(seen), withTimes(expected))
      else assert.notDeepEqual(seen, expected)
    }),
    { numRuns: 1000 },
  )
})

const isHint = (name: string): boolean => name === 'ttlMs' || name === 'cacheScope'

/** A task that lives for ever may have its `ttl` left out before, and says null after. */
function withTimes(result: JsonObject): JsonObject {
  return 'tasks' in result || 'taskId' in result
    ? (JSON.parse(JSON.stringify(result).replaceAll('"ttlMs":null,', '')) as JsonObject)
    : result
}

test('a revision that came later never says less of a tool’s result', () => {
  const oldestFirst = codecs.all.toReversed()
  fc.assert(
    fc.property(fc.subarray([...content]), fc.option(anyValue, { nil: undefined }), (blocks, structuredContent) => {
      const counts = oldestFirst.map((codec) => {
        const losses: string[] = []
        codec.requests
          .get('tools/call')!
          .result.encode({ content: blocks, structuredContent }, (rule) => losses.push(rule))
        return losses.length
      })
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => b - a),
      )
    }),
  )
})
