import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs } from '../../src/codec/registry.ts'
import type { RefusalKind } from '../../src/model/refusal.ts'

const codecs = createCodecs()
const newest = codecs.newest
const session = codecs.newestWithHandshake!

function check(method: string, json: string, codec = newest): RefusalKind | undefined {
  const request = codec.requests.get(method)
  assert.ok(request, method)
  return request.check(JSON.parse(json))
}

/** Params as JSON, and the refusal they deserve. */
const cases: Record<string, readonly (readonly [string, RefusalKind?])[]> = {
  'tools/call': [
    ['{"name":"a"}'],
    ['{"name":"a","arguments":{}}'],
    ['{"name":"a","arguments":{"__proto__":{"x":1}}}'],
    ['{"name":""}'],
    ['{}', 'MalformedParams'],
    ['{"__proto__":{"name":"a"}}', 'MalformedParams'],
    ['{"name":5}', 'MalformedParams'],
    ['{"name":null}', 'MalformedParams'],
    ['{"name":"a","arguments":null}', 'MalformedParams'],
    ['{"name":"a","arguments":[]}', 'MalformedParams'],
    ['{"name":"a","arguments":"x"}', 'MalformedParams'],
    ['{"name":"a","arguments":5}', 'MalformedParams'],
    ['{"name":"a","inputResponses":{"k":{"action":"accept"}},"requestState":"s"}'],
    ['{"name":"a","inputResponses":null}', 'MalformedParams'],
    ['{"name":"a","inputResponses":[]}', 'MalformedParams'],
    ['{"name":"a","inputResponses":{"k":5}}', 'MalformedParams'],
    ['{"name":"a","requestState":""}', 'TamperedRequestState'],
    ['{"name":"a","requestState":7}', 'TamperedRequestState'],
    ['{"name":"a","requestState":null}', 'TamperedRequestState'],
    ['{"name":"a","requestState":{}}', 'TamperedRequestState'],
    ['{"name":"a","task":null}'],
  ],
  'tools/list': [
    ['{}'],
    ['{"cursor":""}'],
    ['{"cursor":"c"}'],
    ['{"cursor":5}', 'BadCursor'],
    ['{"cursor":null}', 'BadCursor'],
  ],
  'resources/read': [
    ['{"uri":"a:b"}'],
    ['{}', 'MalformedParams'],
    ['{"uri":{}}', 'MalformedParams'],
    ['{"uri":"a:b","requestState":1}', 'TamperedRequestState'],
  ],
  'prompts/get': [
    ['{"name":"a","arguments":{"x":"y"}}'],
    ['{"name":"a","arguments":{"x":5}}', 'MalformedParams'],
    ['{"name":"a","arguments":{"x":null}}', 'MalformedParams'],
    ['{"name":"a","arguments":[]}', 'MalformedParams'],
  ],
  'completion/complete': [
    ['{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":""}}'],
    ['{"ref":{"type":"ref/resource","uri":"a"},"argument":{"name":"b","value":""},"context":{"arguments":{"c":"d"}}}'],
    ['{"ref":{"type":"ref/prompt","uri":"a"},"argument":{"name":"b","value":""}}', 'MalformedParams'],
    ['{"ref":{"type":"ref/tool","name":"a"},"argument":{"name":"b","value":""}}', 'MalformedParams'],
    ['{"ref":"a","argument":{"name":"b","value":""}}', 'MalformedParams'],
    ['{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b"}}', 'MalformedParams'],
    [
      '{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":""},"context":{"arguments":{"c":5}}}',
      'MalformedParams',
    ],
    ['{"argument":{"name":"b","value":""}}', 'MalformedParams'],
  ],
  'subscriptions/listen': [
    ['{"notifications":{}}'],
    ['{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t"]}}'],
    ['{}', 'MalformedParams'],
    ['{"notifications":[]}', 'MalformedParams'],
    ['{"notifications":{"toolsListChanged":"yes"}}', 'MalformedParams'],
    ['{"notifications":{"resourceSubscriptions":["a",5]}}', 'MalformedParams'],
  ],
  'tasks/get': [['{"taskId":"t"}'], ['{"taskId":5}', 'MalformedParams']],
  'tasks/update': [['{"taskId":"t","inputResponses":{}}'], ['{"taskId":"t"}', 'MalformedParams']],
}

for (const [method, params] of Object.entries(cases)) {
  test(`the shape of ${method}`, () => {
    for (const [json, refusal] of params) assert.equal(check(method, json), refusal, json)
  })
}

test('the shape of what only older revisions have', () => {
  assert.equal(check('logging/setLevel', '{"level":"notice"}', session), undefined)
  for (const json of ['{"level":"loud"}', '{"level":5}', '{}', '{"level":"toString"}']) {
    assert.equal(check('logging/setLevel', json, session), 'BadLogLevel', json)
  }
  assert.equal(check('resources/subscribe', '{"uri":"a:b"}', session), undefined)
  assert.equal(check('resources/subscribe', '{"uri":5}', session), 'MalformedParams')
  assert.equal(check('ping', '{"anything":1}', session), undefined)
  assert.equal(check('tools/call', '{"name":"a","task":{"ttl":5}}', session), undefined)
  assert.equal(check('tools/call', '{"name":"a","task":null}', session), 'MalformedParams')
  assert.equal(check('tools/call', '{"name":"a","task":{"ttl":"5"}}', session), 'MalformedParams')
})

test('fields that another revision would check are not checked where they mean nothing', () => {
  for (const codec of codecs.all.filter(({ lifecycle }) => lifecycle === 'session')) {
    assert.equal(check('tools/call', '{"name":"a","requestState":7,"inputResponses":null}', codec), undefined)
  }
  const [oldest] = codecs.all.toReversed()
  assert.equal(check('tools/call', '{"name":"a","task":"x"}', oldest), undefined)
})

test('initialize needs a version, capabilities and a name', () => {
  const good = { protocolVersion: 'x', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const { check } = session.introduction
  assert.equal(check(good), undefined)
  assert.equal(check({ ...good, clientInfo: { name: 'c' } }), undefined)
  const bad = [
    { protocolVersion: 5 },
    { protocolVersion: undefined },
    { capabilities: [] },
    { capabilities: undefined },
    { clientInfo: {} },
    { clientInfo: undefined },
    { clientInfo: 'c' },
  ]
  for (const patch of bad) assert.equal(check({ ...good, ...patch }), 'MalformedInitialize', JSON.stringify(patch))
})
