import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoss, rules } from '../../src/codec/projection.ts'
import { createCodecs } from '../../src/codec/registry.ts'
import type { Codec, Convert } from '../../src/codec/codec.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'

const codecs = createCodecs()
const oldestFirst = codecs.all.toReversed()

/** What `convert` makes of `model`, and the rules that it reports. */
function encode(convert: Convert | undefined, model: JsonObject): { wire: JsonObject; losses: string[] } {
  assert.ok(convert)
  const losses: string[] = []
  const before = structuredClone(model)
  const wire = convert.encode(model, (rule, path) => losses.push(path === undefined ? rule : `${rule} ${path}`))
  assert.deepEqual(model, before, 'the model was changed')
  return { wire, losses }
}

const result = (codec: Codec, method: string): Convert => codec.requests.get(method)!.result
const table = <Value>(pick: (codec: Codec) => Value): Record<string, Value> =>
  Object.fromEntries(oldestFirst.map((codec) => [codec.revision, pick(codec)]))

test('a result of structured content alone gets its text copy in every revision', () => {
  const sum = { sum: 3 }
  const copy = [{ type: 'text', text: '{"sum":3}' }]
  const told = ['structured-content-to-text CallToolResult.structuredContent']
  assert.deepEqual(
    table((codec) => encode(result(codec, 'tools/call'), { structuredContent: sum })),
    {
      '2024-11-05': { wire: { content: copy }, losses: told },
      '2025-03-26': { wire: { content: copy }, losses: told },
      '2025-06-18': { wire: { content: copy, structuredContent: sum }, losses: [] },
      '2025-11-25': { wire: { content: copy, structuredContent: sum }, losses: [] },
      '2026-07-28': { wire: { resultType: 'complete', content: copy, structuredContent: sum }, losses: [] },
    },
  )
})

test('structured content that is no object exists in the newest revision only, null included', () => {
  for (const value of [[1, 2], 'text', 5, false, null] as const) {
    const seen = table((codec) => {
      const { wire, losses } = encode(result(codec, 'tools/call'), { structuredContent: value })
      return {
        has: 'structuredContent' in wire,
        text: (wire['content'] as { text: string }[])[0]?.text,
        losses: losses.length,
      }
    })
    const text = JSON.stringify(value)
    const lost = { has: false, text, losses: 1 }
    assert.deepEqual(Object.values(seen), [lost, lost, lost, lost, { has: true, text, losses: 0 }])
  }
})

test('content that came along gets the copy only where structured content is lost, and once', () => {
  const given = { type: 'text', text: 'three' }
  const copy = { type: 'text', text: '{"sum":3}' }
  const contents = (content: Json): unknown =>
    table((codec) => encode(result(codec, 'tools/call'), { content, structuredContent: { sum: 3 } }).wire['content'])
  assert.deepEqual(Object.values(contents([given]) as object), [
    [given, copy],
    [given, copy],
    [given],
    [given],
    [given],
  ])
  assert.deepEqual(Object.values(contents([copy]) as object), [[copy], [copy], [copy], [copy], [copy]])
  assert.deepEqual(Object.values(contents([]) as object), [[copy], [copy], [], [], []])
})

test('a result with neither has empty content', () => {
  for (const codec of codecs.all)
    assert.deepEqual(encode(result(codec, 'tools/call'), {}).wire['content'], [], codec.revision)
})

test('structured content that no JSON can express throws, and nothing else does', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  for (const codec of codecs.all) {
    for (const value of [cyclic, { big: 1n }, () => 1]) {
      assert.throws(
        () => result(codec, 'tools/call').encode({ structuredContent: value as never }, () => {}),
        TypeError,
      )
    }
  }
})

test('sounds and links become text where a revision lacks them; other kinds and unknown ones stay', () => {
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations: { priority: 1, lastModified: 'x' } }
  const link = { type: 'resource_link', uri: 'memo://a', name: 'a', title: 'The A' }
  const odd = { type: 'x-hologram', beams: 4 }
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  const linkText = { type: 'text', text: 'The A: memo://a' }
  const seen = table((codec) => {
    const { wire, losses } = encode(result(codec, 'tools/call'), { content: [audio, link, odd, image] })
    return { content: wire['content'], losses }
  })
  const oldAudio = { ...audio, annotations: { priority: 1 } }
  assert.deepEqual(seen, {
    '2024-11-05': {
      content: [{ type: 'text', text: '[audio: audio/wav]', annotations: { priority: 1 } }, linkText, odd, image],
      losses: ['audio-to-text Content', 'field-dropped Annotations.lastModified', 'link-to-text Content'],
    },
    '2025-03-26': {
      content: [oldAudio, linkText, odd, image],
      losses: ['field-dropped Annotations.lastModified', 'link-to-text Content'],
    },
    '2025-06-18': { content: [audio, link, odd, image], losses: [] },
    '2025-11-25': { content: [audio, link, odd, image], losses: [] },
    '2026-07-28': { content: [audio, link, odd, image], losses: [] },
  })
})

test('the messages of a prompt are projected like the content of a tool', () => {
  const messages = [{ role: 'user', content: { type: 'resource_link', uri: 'memo://a', name: 'a' } }]
  const [oldest] = oldestFirst
  assert.deepEqual(encode(result(oldest!, 'prompts/get'), { messages }).wire, {
    messages: [{ role: 'user', content: { type: 'text', text: 'a: memo://a' } }],
  })
})

test('a listing has what its revision defines, and only decorations are lost', () => {
  const icons = [{ src: 'https://a.example/i.png' }]
  const tool = {
    name: 'a',
    title: 'A',
    description: 'd',
    icons,
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    execution: { taskSupport: 'optional' },
    _meta: { k: 1 },
  }
  const kept = table((codec) => {
    const { wire, losses } = encode(result(codec, 'tools/list'), { tools: [tool], ttlMs: 5, cacheScope: 'public' })
    for (const loss of losses)
      assert.equal(createLoss(codec.revision, 'tools/list', loss.split(' ')[0]!).decoration, true, loss)
    const { tools, ...rest } = wire
    return [...Object.keys((tools as object[])[0]!), ...Object.keys(rest)].toSorted().join(' ')
  })
  assert.deepEqual(kept, {
    '2024-11-05': 'description inputSchema name',
    '2025-03-26': 'annotations description inputSchema name',
    '2025-06-18': '_meta annotations description inputSchema name outputSchema title',
    '2025-11-25': '_meta annotations description execution icons inputSchema name outputSchema title',
    '2026-07-28': '_meta annotations cacheScope description icons inputSchema name outputSchema resultType title ttlMs',
  })
})

test('an output schema that describes no object exists in the newest revision only', () => {
  const seen = table((codec) => {
    const { tools } = encode(result(codec, 'tools/list'), {
      tools: [{ name: 'a', outputSchema: { type: 'array' } }],
    }).wire
    return 'outputSchema' in (tools as object[])[0]!
  })
  assert.deepEqual(Object.values(seen), [false, false, false, false, true])
})

test('results may be kept as they say, and not at all unless they say so', () => {
  const { newest } = codecs
  for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', 'resources/read']) {
    const bare = encode(result(newest, method), { _meta: { a: 1 } }).wire
    assert.deepEqual(bare, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: { a: 1 } })
    const hinted = encode(result(newest, method), { ttlMs: 9, cacheScope: 'public' }).wire
    assert.deepEqual(hinted, { resultType: 'complete', ttlMs: 9, cacheScope: 'public' })
    assert.equal(encode(result(newest, method), { ttlMs: undefined }).wire['ttlMs'], 0)
  }
  for (const method of ['tools/call', 'prompts/get', 'completion/complete']) {
    assert.equal('ttlMs' in encode(result(newest, method), {}).wire, false, method)
  }
  const discovery = newest.description.encode(
    { supportedVersions: ['x'], serverInfo: { name: 'a' }, protocolVersion: 'y' },
    assert.fail,
  )
  assert.deepEqual(discovery, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', supportedVersions: ['x'] })
})

test('a result that asks for input carries its questions in the terms of the revision, and no hints', () => {
  const question = {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: '7' },
  }
  const asks = {
    resultType: 'input_required',
    inputRequests: { q: question, r: { method: 'roots/list' } },
    requestState: 's',
  }
  const { wire } = encode(result(codecs.newest, 'resources/read'), { ...asks, ttlMs: 5, cacheScope: 'public' })
  const { elicitationId: _, ...params } = question.params
  assert.deepEqual(wire, {
    ...asks,
    inputRequests: { q: { method: 'elicitation/create', params }, r: { method: 'roots/list' } },
  })
})

test('what a server says of itself is what the revision has words for', () => {
  const model = {
    protocolVersion: 'p',
    supportedVersions: ['p'],
    serverInfo: { name: 's', version: '1', title: 'S', websiteUrl: 'u' },
    capabilities: {
      tools: {},
      completions: {},
      tasks: { list: {} },
      extensions: { 'io.modelcontextprotocol/tasks': {}, 'acme/x': {} },
    },
    instructions: 'i',
    ttlMs: 1,
    cacheScope: 'public',
  }
  const seen = table((codec) => {
    const wire = encode(codec.description, model).wire
    return [
      Object.keys(wire),
      Object.keys(wire['capabilities'] as object),
      Object.keys((wire['serverInfo'] as object) ?? {}),
    ].map((keys) => keys.toSorted().join(' '))
  })
  const session = 'capabilities instructions protocolVersion serverInfo'
  assert.deepEqual(seen, {
    '2024-11-05': [session, 'extensions tools', 'name version'],
    '2025-03-26': [session, 'completions extensions tools', 'name version'],
    '2025-06-18': [session, 'completions extensions tools', 'name title version'],
    '2025-11-25': [session, 'completions extensions tasks tools', 'name title version websiteUrl'],
    '2026-07-28': [
      'cacheScope capabilities instructions resultType supportedVersions ttlMs',
      'completions extensions tools',
      '',
    ],
  })
  const extensions = (codec: Codec): unknown =>
    (encode(codec.description, model).wire['capabilities'] as JsonObject)['extensions']
  assert.deepEqual(extensions(codecs.get('2025-11-25')!), { 'acme/x': {} })
  assert.deepEqual(extensions(codecs.newest), model.capabilities.extensions)
  const onlyTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  assert.deepEqual(encode(codecs.get('2025-11-25')!.clientCapabilities, onlyTasks).wire, {})
})

test('a task is called by the names of its revision, there and back', () => {
  const task = { taskId: 't', status: 'working', createdAt: 'c', lastUpdatedAt: 'l', ttlMs: 60, pollIntervalMs: 5 }
  const old = codecs.get('2025-11-25')!
  const wire = { taskId: 't', status: 'working', createdAt: 'c', lastUpdatedAt: 'l', ttl: 60, pollInterval: 5 }
  assert.deepEqual(encode(result(old, 'tasks/get'), task).wire, wire)
  assert.deepEqual(encode(old.notifications.get('notifications/tasks/status')?.params, task).wire, wire)
  assert.deepEqual(encode(result(old, 'tools/call'), { ...task, resultType: 'task', _meta: { a: 1 } }).wire, {
    task: wire,
    _meta: { a: 1 },
  })
  assert.deepEqual(encode(result(old, 'tasks/list'), { tasks: [{ ...task, ttlMs: undefined }] }).wire, {
    tasks: [{ ...wire, ttl: null }],
  })
  assert.deepEqual(result(old, 'tools/call').decode({ task: wire }), { ...task, resultType: 'task' })
  assert.deepEqual(result(old, 'tasks/get').decode(wire), task)
  assert.deepEqual(result(old, 'tasks/list').decode({ tasks: [wire] }), { tasks: [task] })

  assert.deepEqual(encode(result(codecs.newest, 'tasks/get'), task).wire, { resultType: 'complete', ...task })
  assert.deepEqual(encode(result(codecs.newest, 'tools/call'), { resultType: 'task', ...task }).wire, {
    resultType: 'task',
    ...task,
  })
})

test('request fields of another revision are dropped on the way in, and nobody’s are carried', () => {
  const wire = { name: 'a', task: { ttl: 1 }, inputResponses: {}, requestState: 's', 'x-vendor': 1, _meta: { m: 1 } }
  const kept = table((codec) => Object.keys(codec.requests.get('tools/call')!.params.decode(wire)).join(' '))
  assert.deepEqual(kept, {
    '2024-11-05': 'name x-vendor _meta',
    '2025-03-26': 'name x-vendor _meta',
    '2025-06-18': 'name x-vendor _meta',
    '2025-11-25': 'name task x-vendor _meta',
    '2026-07-28': 'name inputResponses requestState x-vendor _meta',
  })
})

test('marks of another revision are dropped from results on the way in, everything else is carried', () => {
  const wire = { tools: [{ name: 'a', title: 'A' }], resultType: 'complete', ttlMs: 5, cacheScope: 'public', more: 1 }
  for (const codec of codecs.all) {
    const { resultType: _, ttlMs, cacheScope, ...rest } = wire
    const expected = codec === codecs.newest ? { ...rest, ttlMs, cacheScope } : rest
    assert.deepEqual(result(codec, 'tools/list').decode(wire), expected, codec.revision)
  }
  assert.deepEqual(result(codecs.newest, 'tools/call').decode({ resultType: 'input_required', requestState: 's' }), {
    resultType: 'input_required',
    requestState: 's',
  })
})

test('progress has a message from the second revision on', () => {
  const params = { progressToken: 1, progress: 1, message: 'm' }
  const seen = table(
    (codec) => 'message' in encode(codec.notifications.get('notifications/progress')?.params, params).wire,
  )
  assert.deepEqual(Object.values(seen), [false, true, true, true, true])
})

test('a member called __proto__ stays a member', () => {
  const tool = JSON.parse('{"name":"a","title":"A","__proto__":{"polluted":1}}') as JsonObject
  const [oldest] = oldestFirst
  const { tools } = encode(result(oldest!, 'tools/list'), { tools: [tool] }).wire
  assert.equal(JSON.stringify(tools), '[{"name":"a","__proto__":{"polluted":1}}]')
})

test('the newest revision hands through what it can say without copying', () => {
  const { newest } = codecs
  const params = { name: 'a', arguments: { b: 1 } }
  assert.equal(newest.requests.get('tools/call')!.params.decode(params), params)
  const content = [{ type: 'text', text: 'x' }]
  assert.equal(encode(result(newest, 'tools/call'), { content }).wire['content'], content)
  const progress = { progressToken: 1, progress: 1 }
  assert.equal(newest.notifications.get('notifications/progress')!.params.encode(progress, assert.fail), progress)
})

test('what no revision defines is an extension’s, and carried both ways', () => {
  const { foreign } = codecs.newest
  assert.equal(foreign.check({ anything: [1] }), undefined)
  assert.deepEqual(foreign.result.encode({ a: 1 }, assert.fail), { resultType: 'complete', a: 1 })
  assert.deepEqual(codecs.newestWithHandshake!.foreign.result.encode({ a: 1 }, assert.fail), { a: 1 })
})

test('a loss says whether it only took decoration away', () => {
  assert.deepEqual(createLoss('r', 'tools/list', 'field-dropped', 'Tool.icons'), {
    rule: 'field-dropped',
    revision: 'r',
    method: 'tools/list',
    path: 'Tool.icons',
    decoration: true,
  })
  assert.deepEqual(createLoss('r', 'tools/call', 'audio-to-text'), {
    rule: 'audio-to-text',
    revision: 'r',
    method: 'tools/call',
    decoration: false,
  })
  assert.equal(createLoss('r', 'm', 'toString').decoration, false)
  assert.deepEqual(
    Object.keys(rules).filter((rule) => createLoss('r', 'm', rule).decoration),
    ['field-dropped', 'output-schema-dropped', 'default-dropped', 'titles-to-enum-names'],
  )
})
