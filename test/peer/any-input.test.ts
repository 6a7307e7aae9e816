// Whatever lines a client sends: the process lives, and each request whose id can be read is answered exactly once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { connectInMemory } from '../../src/index.ts'
import { readMessage } from '../../src/wire/envelope.ts'
import { goldenServer } from '../golden/server.ts'
import { everything, settled } from '../server/support.ts'

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const handshakes = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

const id = fc.oneof(
  fc.integer({ min: -3, max: 9 }),
  fc.constantFrom('1', '2', 'x', ''),
  fc.constantFrom(null, 1.5, true, {}, []),
)
const method = fc.oneof(
  fc.constantFrom(
    'initialize',
    'server/discover',
    'ping',
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/read',
    'resources/subscribe',
    'resources/unsubscribe',
    'resources/templates/list',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'logging/setLevel',
    'subscriptions/listen',
    'tasks/get',
    'tasks/list',
    'notifications/initialized',
    'notifications/cancelled',
    'notifications/progress',
  ),
  fc.string({ maxLength: 8 }),
  fc.constantFrom('__proto__', 'constructor', 5, null),
)
const meta = fc.oneof(
  fc.constantFrom(
    { [versionKey]: '2026-07-28', [capabilitiesKey]: everything, progressToken: 1 },
    { [versionKey]: '2026-07-28', [capabilitiesKey]: {} },
    { [versionKey]: '2031-01-01', [capabilitiesKey]: {} },
    { [versionKey]: '2026-07-28' },
    { progressToken: 'p' },
  ),
  fc.jsonValue({ maxDepth: 1 }),
)
const tools = [
  'add',
  'kinds',
  'boom',
  'cyclic',
  'deploy',
  'both',
  'journey',
  'raw',
  'wait',
  'release',
  'grow',
  'touch',
  'climb',
  'secret',
  'pay',
]
const params = fc.oneof(
  fc.record(
    {
      name: fc.oneof(fc.constantFrom(...tools, 'greet', 'broken'), fc.jsonValue({ maxDepth: 0 })),
      uri: fc.oneof(fc.constantFrom('memo://hello', 'note://1', 'memo://broken'), fc.jsonValue({ maxDepth: 0 })),
      arguments: fc.oneof(
        fc.constantFrom({}, { a: 1, b: 2 }, { env: 'x' }, { to: 3 }, { uri: 'memo://hello' }, { name: 'Ada' }),
        fc.jsonValue({ maxDepth: 1 }),
      ),
      cursor: fc.jsonValue({ maxDepth: 0 }),
      notifications: fc.oneof(fc.constantFrom({ toolsListChanged: true }), fc.jsonValue({ maxDepth: 1 })),
      requestId: id,
      requestState: fc.string({ maxLength: 5 }),
      inputResponses: fc.jsonValue({ maxDepth: 2 }),
      protocolVersion: fc.constantFrom(...handshakes, '2026-07-28', 'x', 5),
      capabilities: fc.constantFrom({}, everything, []),
      clientInfo: fc.constantFrom({ name: 'c', version: '1' }, {}),
      level: fc.constantFrom('error', 'loud', 5),
      ref: fc.constantFrom({ type: 'ref/prompt', name: 'greet' }, {}),
      argument: fc.constantFrom({ name: 'style', value: '' }, 5),
      _meta: meta,
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
    id,
    method,
    params,
    result: fc.jsonValue({ maxDepth: 1 }),
    error: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: [] },
)
const request = fc.record(
  { jsonrpc: fc.constant('2.0'), id, method, params },
  { requiredKeys: ['jsonrpc', 'id', 'method'] },
)
const line = fc.oneof(
  { weight: 6, arbitrary: request.map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: message.map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.oneof(request, message, fc.jsonValue({ maxDepth: 1 })), { maxLength: 4 })
      .map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: request.map((value) => JSON.stringify(value).slice(0, -1)) },
)

/** Reads a line as the server may: `undefined` for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How often each id has to be answered, and which may be silent since they were cancelled. */
function expected(lines: readonly string[], batches: boolean): { due: Map<string, number>; cancelled: Set<string> } {
  const due = new Map<string, number>()
  const cancelled = new Set<string>()
  for (const value of lines.map(parsed)) {
    const batch = Array.isArray(value)
    for (const one of batch ? (batches ? value : []) : [value]) {
      const read = readMessage(one)
      if (read.kind === 'notification' && read.method === 'notifications/cancelled')
        cancelled.add(JSON.stringify(read.params?.['requestId']))
      if (read.kind !== 'request' && read.kind !== 'refused') continue
      if (read.id === undefined) continue
      const name = JSON.stringify(read.id)
      due.set(name, (due.get(name) ?? 0) + 1)
    }
  }
  return { due, cancelled }
}

async function run(lines: readonly string[], revision: string | undefined): Promise<void> {
  const link = connectInMemory(goldenServer(), { graceMs: 0 })
  const heard: Record<string, unknown>[] = []
  link.onMessage((text) => heard.push(...[JSON.parse(text)].flat()))
  if (revision !== undefined) {
    link.send({
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params: { protocolVersion: revision, capabilities: everything, clientInfo: { name: 'c', version: '1' } },
    })
  }
  for (const text of lines) link.send(text)
  link.send({
    jsonrpc: '2.0',
    id: 'alive',
    method: 'server/discover',
    params: { _meta: { [versionKey]: '2026-07-28', [capabilitiesKey]: {} } },
  })
  await settled(4)
  const holding = setTimeout(() => {}, 5000)
  await link.close()
  clearTimeout(holding)
  await settled(1)
  const counts = new Map<string, number>()
  for (const answer of heard) {
    if (answer['method'] !== undefined) continue
    assert.equal(answer['jsonrpc'], '2.0')
    assert.notEqual('result' in answer, 'error' in answer, 'either a result or an error')
    assert.doesNotMatch(JSON.stringify(answer), /\.ts:\d+/, 'no stack leaves')
    if (answer['id'] === undefined || answer['id'] === null) continue
    const name = JSON.stringify(answer['id'])
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  assert.equal(counts.get('"alive"'), 1, 'the server lives')
  const { due, cancelled } = expected(lines, revision === '2025-03-26')
  for (const [name, times] of due) {
    const got = counts.get(name) ?? 0
    assert.ok(got === times || (cancelled.has(name) && got < times), `${name} answered ${got} times, not ${times}`)
  }
  for (const name of counts.keys())
    assert.ok(due.has(name) || name === '"init"' || name === '"alive"', `nobody asked ${name}`)
}

for (const revision of [undefined, ...handshakes]) {
  test(`any lines ${revision === undefined ? 'without a handshake' : `after a handshake of ${revision}`}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), (lines) => run(lines, revision)),
      { numRuns: 120 },
    )
  })
}
