// A request that fails in several ways at once is refused for the first of them, in the order of the design: one table
// per lifecycle, and every pair and triple of its rows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peerFor } from '../../src/defaults.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { tool } from '../../src/index.ts'
import { clientOf, serverOf } from '../server/support.ts'
import { connectInMemory } from '../../src/index.ts'

const version = '2026-07-28'
const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

const server = serverOf({
  tools: [
    tool(
      'mirrored',
      {
        needs: ['sampling'],
        input: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, n: { type: 'integer' } },
        },
      },
      () => 'ran',
    ),
  ],
})

/** A request while it is being spoiled. */
interface Draft {
  method: string
  params: Record<string, unknown>
  meta: Record<string, unknown>
  headers: Record<string, string>
}

interface Fault {
  readonly name: string
  spoil(draft: Draft): void
  /** Code, and part of the message; a result that is an error has no code. */
  readonly answer: readonly [code: number | undefined, message: RegExp]
  readonly status: number
  /** Rows that cannot be met together with this one. */
  readonly without?: readonly string[]
}

const inOrder: readonly Fault[] = [
  {
    name: 'the version header is unlike the body',
    spoil: ({ headers }) => (headers['mcp-protocol-version'] = '2026-07-29'),
    answer: [-32020, /header/],
    status: 400,
    without: ['no version header'],
  },
  {
    name: 'a required key of _meta is missing',
    spoil: ({ meta }) => delete meta[capabilitiesKey],
    answer: [-32602, /_meta/],
    status: 400,
    without: ['a needed feature is missing'],
  },
  {
    name: 'no version header',
    spoil: ({ headers }) => delete headers['mcp-protocol-version'],
    answer: [-32020, /header/],
    status: 400,
  },
  {
    name: 'the revision is not served',
    spoil: ({ meta, headers }) => {
      meta[versionKey] = '2031-01-01'
      if (headers['mcp-protocol-version'] === version) headers['mcp-protocol-version'] = '2031-01-01'
    },
    answer: [-32022, /version/],
    status: 400,
  },
  {
    name: 'Mcp-Method is another',
    spoil: ({ headers }) => (headers['mcp-method'] = 'tools/list'),
    answer: [-32020, /header/],
    status: 400,
  },
  {
    name: 'Mcp-Name is missing',
    spoil: ({ headers }) => delete headers['mcp-name'],
    answer: [-32020, /header/],
    status: 400,
    without: ['the method is unknown'],
  },
  {
    name: 'the method is unknown',
    spoil: (draft) => {
      draft.method = 'no/such'
      if (draft.headers['mcp-method'] === 'tools/call') draft.headers['mcp-method'] = 'no/such'
    },
    answer: [-32601, /method/],
    status: 404,
  },
  {
    name: 'the arguments are no object',
    spoil: ({ params }) => (params['arguments'] = ['x']),
    answer: [-32602, /shape/],
    status: 200,
    without: ['the arguments do not fit', 'Mcp-Param is missing'],
  },
  {
    name: 'the tool is unknown',
    spoil: ({ params, headers }) => {
      params['name'] = 'absent'
      if (headers['mcp-name'] !== undefined) headers['mcp-name'] = 'absent'
    },
    answer: [-32602, /no such tool/],
    status: 200,
  },
  {
    name: 'Mcp-Param is missing',
    spoil: ({ headers }) => delete headers['mcp-param-region'],
    answer: [-32020, /header/],
    status: 400,
  },
  {
    name: 'a needed feature is missing',
    spoil: ({ meta }) => (meta[capabilitiesKey] = {}),
    answer: [-32021, /capability/],
    status: 400,
  },
  {
    name: 'the state is none',
    spoil: ({ params }) => (params['requestState'] = 'none'),
    answer: [-32602, /requestState/],
    status: 200,
  },
  {
    name: 'the arguments do not fit',
    spoil: ({ params }) => ((params['arguments'] as Record<string, unknown>)['n'] = 'x'),
    answer: [undefined, /Invalid arguments/],
    status: 200,
  },
]

const peer = peerFor(server, {})

async function answered(faults: readonly Fault[]): Promise<{ status: number; code: number | undefined; said: string }> {
  const draft: Draft = {
    method: 'tools/call',
    params: { name: 'mirrored', arguments: { region: 'eu', n: 1 } },
    meta: { [versionKey]: version, [capabilitiesKey]: { sampling: {} } },
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': 'mirrored',
      'mcp-param-region': 'eu',
    },
  }
  for (const { spoil } of faults) spoil(draft)
  const params = { ...draft.params, _meta: draft.meta } as JsonObject
  const exchange = peer.answerSelfContained(
    { kind: 'request', id: 1, method: draft.method, params },
    { principal: undefined, outlet: { send: () => {} }, header: (name) => draft.headers[name], transport: 'http' },
  )
  const answer = await exchange.answer
  assert.ok(answer)
  const { result, error } = JSON.parse(answer.text) as {
    result?: { content: { text: string }[] }
    error?: { code: number; message: string }
  }
  return { status: answer.status, code: error?.code, said: error?.message ?? String(result?.content[0]?.text) }
}

const fits = (one: Fault, other: Fault): boolean =>
  !one.without?.includes(other.name) && !other.without?.includes(one.name)

async function judge(faults: readonly Fault[]): Promise<void> {
  const [first] = faults
  assert.ok(first)
  const { status, code, said } = await answered(faults)
  const about = faults.map(({ name }) => name).join(' + ')
  assert.equal(code, first.answer[0], about)
  assert.match(said, first.answer[1], about)
  assert.equal(status, first.status, about)
}

test('modern: without any fault it runs', async () => {
  assert.deepEqual(await answered([]), { status: 200, code: undefined, said: 'ran' })
})

for (const [at, fault] of inOrder.entries()) {
  test(`modern: ${fault.name}, before everything that comes after it`, async () => {
    await judge([fault])
    const later = inOrder.slice(at + 1).filter((other) => fits(fault, other))
    for (const [index, second] of later.entries()) {
      await judge([fault, second])
      for (const third of later.slice(index + 1)) if (fits(second, third)) await judge([fault, second, third])
    }
  })
}

/** What a request with a handshake can be refused for, in order; the request is spoiled in the same way. */
const legacy: readonly Fault[] = inOrder.filter(({ name }) =>
  [
    'the method is unknown',
    'the arguments are no object',
    'the tool is unknown',
    'a needed feature is missing',
    'the arguments do not fit',
  ].includes(name),
)

async function legacyAnswered(
  faults: readonly Fault[],
  shaken: boolean,
): Promise<{ code: number | undefined; said: string }> {
  const draft: Draft = {
    method: 'tools/call',
    params: { name: 'mirrored', arguments: { n: 1 } },
    meta: {},
    headers: {},
  }
  for (const { spoil } of faults) spoil(draft)
  const capable = !faults.some(({ name }) => name === 'a needed feature is missing')
  const { method, params } = draft
  if (!shaken) {
    const link = connectInMemory(server, { graceMs: 0 })
    const heard: string[] = []
    link.onMessage((text) => heard.push(text))
    link.send({ jsonrpc: '2.0', id: 1, method, params })
    await new Promise((resolve) => setImmediate(resolve))
    const { error } = JSON.parse(heard[0] ?? '{}') as { error?: { code: number; message: string } }
    return { code: error?.code, said: String(error?.message) }
  }
  const client = await clientOf(server, { revision: '2025-11-25', capabilities: capable ? { sampling: {} } : {} })
  const { result, error } = await client.request(method, params as JsonObject)
  return { code: error?.code, said: error?.message ?? String((result?.['content'] as { text: string }[])[0]?.text) }
}

/** Where the code of the other lifecycle differs. */
const legacyCodes: Readonly<Record<string, number>> = { 'a needed feature is missing': -32603 }

for (const [at, fault] of legacy.entries()) {
  test(`legacy: ${fault.name}, before everything that comes after it, and after the handshake`, async () => {
    for (const second of [undefined, ...legacy.slice(at + 1).filter((other) => fits(fault, other))]) {
      const faults = second ? [fault, second] : [fault]
      const { code, said } = await legacyAnswered(faults, true)
      assert.equal(code, legacyCodes[fault.name] ?? fault.answer[0], faults.map(({ name }) => name).join(' + '))
      assert.match(said, fault.answer[1])
      assert.equal((await legacyAnswered(faults, false)).code, -32000)
    }
  })
}
