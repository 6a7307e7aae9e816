// Whether a request can be answered at all: its method in this revision, on this server, for this caller, and its shape.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCodecs } from '../../src/codec/registry.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ServerCapabilities } from '../../src/model/nouns.ts'
import { isRefusal } from '../../src/model/refusal.ts'
import type { Served } from '../../src/model/served.ts'
import { checkRequest, serverFeatures } from '../../src/peer/methods.ts'
import type { PeerOptions } from '../../src/peer/peer.ts'

const codecs = createCodecs()
const newest = codecs.newest
const legacy = codecs.get('2025-11-25')!
const tasks = 'io.modelcontextprotocol/tasks'

function servedWith(capabilities: ServerCapabilities, own: Partial<Served> = {}): Served {
  const description = { info: { name: 's', version: '1' }, capabilities, hints: {} }
  return {
    handle: async () => ({}),
    describe: () => description,
    onChange: () => () => {},
    headerPlan: () => undefined,
    ...own,
  }
}

/** What a request is refused as, or `ok`. */
function verdict(
  served: Served,
  method: string,
  params: JsonObject | undefined,
  codec = newest,
  maxSubscriptions = 2,
): string {
  // The rest of the options plays no part in these checks.
  const options = { codecs, served, maxSubscriptions } as unknown as PeerOptions
  const features = serverFeatures(codec, 'http', served, undefined)
  const request = { kind: 'request', id: 1, method, params } as const
  try {
    checkRequest(request, codec, features, undefined, options)
    return 'ok'
  } catch (error) {
    return isRefusal(error) ? error.kind : String(error)
  }
}

test('what the server does not offer is no method, and what it offers is one', () => {
  const nothing = servedWith({})
  const tooled = servedWith({ tools: {} })
  assert.equal(verdict(nothing, 'tools/list', undefined), 'UnknownMethod')
  assert.equal(verdict(tooled, 'tools/list', undefined), 'ok')
  assert.equal(verdict(tooled, 'tools/call', { name: 7 }), 'MalformedParams')
  assert.equal(verdict(tooled, 'prompts/list', undefined), 'UnknownMethod')
  assert.equal(verdict(nothing, 'ping', undefined, legacy), 'ok')
})

test('the methods of an extension are there where the server declares it', () => {
  const params = { taskId: 't' }
  assert.equal(verdict(servedWith({}), 'tasks/get', params), 'UnknownMethod')
  assert.equal(verdict(servedWith({ extensions: {} }), 'tasks/get', params), 'UnknownMethod')
  assert.equal(verdict(servedWith({ extensions: { 'acme/x': {} } }), 'tasks/get', params), 'UnknownMethod')
  assert.equal(verdict(servedWith({ extensions: { [tasks]: {} } }), 'tasks/get', params), 'ok')
})

test('what no revision defines is the server’s own, and nothing else is', () => {
  const asked: string[] = []
  const owner = servedWith(
    {},
    { owns: (method, revision) => (asked.push(`${method} ${revision}`), method === 'acme/do') },
  )
  assert.equal(verdict(owner, 'acme/do', undefined), 'ok')
  assert.equal(verdict(owner, 'acme/other', undefined), 'UnknownMethod')
  assert.deepEqual(asked, ['acme/do 2026-07-28', 'acme/other 2026-07-28'])
  assert.equal(verdict(servedWith({}), 'acme/do', undefined), 'UnknownMethod')
  // Defined by another revision, it is nobody's to define anew.
  const greedy = servedWith({}, { owns: () => true })
  assert.equal(verdict(greedy, 'ping', undefined), 'UnknownMethod')
  assert.equal(verdict(greedy, 'server/discover', undefined, legacy), 'UnknownMethod')
})

test('one listen hears of so many resources, and not of one more', () => {
  const served = servedWith({ resources: { subscribe: true }, tools: {} })
  const listen = (...uris: string[]) => ({ notifications: { resourceSubscriptions: uris } })
  assert.equal(verdict(served, 'subscriptions/listen', listen('a:1', 'a:2')), 'ok')
  assert.equal(verdict(served, 'subscriptions/listen', listen('a:1', 'a:2', 'a:3')), 'MalformedParams')
  assert.equal(verdict(served, 'subscriptions/listen', { notifications: {} }), 'ok')
  // Others may carry whatever looks like it.
  assert.equal(verdict(served, 'tools/list', listen('a:1', 'a:2', 'a:3')), 'ok')
})

test('the features of a server are made once for each description, revision and transport', () => {
  const served = servedWith({ tools: {} })
  const first = serverFeatures(newest, 'http', served, undefined)
  assert.equal(serverFeatures(newest, 'http', served, undefined), first)
  assert.notEqual(serverFeatures(newest, 'stdio', served, undefined), first)
  assert.notEqual(serverFeatures(legacy, 'http', served, undefined), first)
  assert.equal(serverFeatures(newest, 'http', served, undefined), first)
  assert.notEqual(serverFeatures(newest, 'http', servedWith({ tools: {} }), undefined), first)
  assert.deepEqual([first.has('tools'), first.has('prompts')], [true, false])
})
