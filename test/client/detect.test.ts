// Defends: how old a server is is found out by what it answers, on one connection, and never by what says nothing of age.
// What crosses on the way stands in test/client/transcripts; UPDATE_GOLDEN=1 writes it anew.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { CallFailed, connect } from '../../src/client.ts'
import { memoryVerdicts } from '../../src/client/verdicts.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Target } from '../../src/peer/link.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'
import { add, legacy, modern, quick, revisions } from './support.ts'

const folder = 'test/client/transcripts'

function golden(name: string, target: MemoryTarget): void {
  const text = target.crossed.map(([way, message]) => `${way} ${JSON.stringify(message)}\n`).join('')
  const file = `${folder}/${name}.transcript`
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, text)
  }
  assert.equal(text, readFileSync(file, 'utf8'))
}

const server = serverOf({ tools: [add] })
const info = { name: 'golden', version: '1' }

for (const revision of revisions) {
  test(`a server of ${revision} alone`, async () => {
    const target = memoryTarget(server, { revisions: [revision] })
    await using client = await connect(target, quick({ info }))
    assert.equal(client.revision, revision)
    assert.equal(target.links, 1)
    golden(revision, target)
  })

  test(`a server of ${revision} alone, known to be one`, async () => {
    const verdicts = memoryVerdicts()
    const first = memoryTarget(server, { revisions: [revision], key: 'known' })
    await (await connect(first, quick({ info, verdicts }))).close()
    const again = memoryTarget(server, { revisions: [revision], key: 'known' })
    await using client = await connect(again, quick({ info, verdicts }))
    assert.equal(client.revision, revision)
    assert.deepEqual(
      again.sent(),
      revision === modern ? ['server/discover'] : ['initialize', 'notifications/initialized'],
    )
  })
}

test('a server of every revision', async () => {
  const target = memoryTarget(server)
  await using client = await connect(target, quick({ info }))
  assert.equal(client.revision, modern)
  golden('every', target)
})

/** Answers in place of the server: what `answer` returns for a request is said, and nothing crosses. */
function pretend(target: MemoryTarget, answer: (request: JsonObject) => JsonObject | undefined): void {
  target.alter = (message, way) => {
    const said = way === '>' ? answer(message) : undefined
    if (said) queueMicrotask(() => target.say({ id: message.id, ...said }))
    return said ? undefined : message
  }
}

test('a silent server is offered a handshake on the same connection', async () => {
  const target = memoryTarget(server, { revisions: [legacy] })
  target.alter = (message) => (message.method === 'server/discover' ? undefined : message)
  await using client = await connect(target, quick({ info }))
  assert.equal(client.revision, legacy)
  assert.equal(target.links, 1)
  golden('silent', target)
})

test('a server that is slow to start and answers the probe first is modern', async () => {
  const target = memoryTarget(server)
  const held: JsonObject[] = []
  target.alter = (message, way) => {
    if (way === '>' || held.length === 2) return message
    held.push(message)
    if (held.length === 2) queueMicrotask(() => held.forEach(({ jsonrpc: _, ...rest }) => target.say(rest)))
    return undefined
  }
  await using client = await connect(target, quick({ info }))
  assert.equal(client.revision, modern)
  assert.equal((await client.call('add', { a: 1, b: 1 })).isError, false)
})

test('a server that dies on the probe is started again once, and that is remembered', async () => {
  const verdicts = memoryVerdicts()
  const target = memoryTarget(server, { revisions: [legacy] })
  target.alter = (message, way) => {
    if (way === '<' || message.method !== 'server/discover') return message
    queueMicrotask(() => target.drop(new CallFailed('ServerExited', { ran: 'unknown' })))
    return undefined
  }
  const client = await connect(target, quick({ info, verdicts }))
  assert.equal(client.revision, legacy)
  assert.equal(target.links, 2)
  await client.close()
  await using again = await connect(target, quick({ info, verdicts }))
  assert.equal(again.revision, legacy)
  assert.equal(target.links, 3)
})

test('a server that names what it refused a moment ago is asked once more', async () => {
  const target = memoryTarget(server)
  let refused = 0
  pretend(target, ({ method }) =>
    method === 'server/discover' && refused++ === 0
      ? { error: { code: -32022, message: 'no', data: { supported: [modern], requested: modern } } }
      : undefined,
  )
  await using client = await connect(target, quick({ info }))
  assert.equal(client.revision, modern)
})

test('a server that refuses the revision and names older ones gets the best of them', async () => {
  const target = memoryTarget(server, { revisions: ['2025-06-18', '2025-03-26'] })
  pretend(target, ({ method }) =>
    method === 'server/discover'
      ? { error: { code: -32022, message: 'no', data: { supported: ['2025-06-18', '2025-03-26'], requested: modern } } }
      : undefined,
  )
  await using client = await connect(target, quick({ info }))
  assert.equal(client.revision, '2025-06-18')
})

for (const error of [
  { code: -32601, message: 'Method not found' },
  { code: -32600, message: 'Invalid request' },
  { code: -32602, message: 'Invalid params' },
  { code: -32603, message: 'boom' },
  { code: -32000, message: 'not initialized' },
  { code: -32002, message: 'Server not initialized' },
  { code: 42, message: 'own' },
]) {
  test(`error ${error.code} to the probe is no modern error`, async () => {
    const target = memoryTarget(server, { revisions: [legacy] })
    pretend(target, ({ method }) => (method === 'server/discover' ? { error } : undefined))
    await using client = await connect(target, quick({ info }))
    assert.equal(client.revision, legacy)
  })
}

for (const result of [{}, { tools: [] }, { supportedVersions: 'all' }]) {
  test(`${JSON.stringify(result)} is no answer to the probe`, async () => {
    const target = memoryTarget(server, { revisions: [legacy] })
    pretend(target, ({ method }) => (method === 'server/discover' ? { result } : undefined))
    await using client = await connect(target, quick({ info }))
    assert.equal(client.revision, legacy)
  })
}

test('a modern error that is not about the revision is thrown: an older handshake would hide it', async () => {
  const target = memoryTarget(server)
  pretend(target, ({ method }) =>
    method === 'server/discover'
      ? { error: { code: -32021, message: 'no', data: { requiredCapabilities: { roots: {} } } } }
      : undefined,
  )
  await assert.rejects(connect(target, quick({ info })), { kind: 'MissingClientCapability' })
  assert.deepEqual(target.sent(), ['server/discover'])
})

test('a verdict that is true no more is questioned', async () => {
  const verdicts = memoryVerdicts()
  for (const [before, after] of [
    [legacy, modern],
    [modern, legacy],
    ['2024-11-05', legacy],
  ] as const) {
    const old = memoryTarget(server, { revisions: [before], key: 'moved' })
    await (await connect(old, quick({ info, verdicts }))).close()
    const moved = memoryTarget(server, { revisions: [after], key: 'moved' })
    await using client = await connect(moved, quick({ info, verdicts }))
    assert.equal(client.revision, after)
    assert.equal((await verdicts.get('moved'))?.revision, after)
  }
})

test('a range and a list of revisions bound what is agreed', async () => {
  for (const [wanted, agreed] of [
    [{ max: '2025-06-18' }, '2025-06-18'],
    [{ min: '2025-11-25' }, modern],
    [['2024-11-05', '2025-03-26'], '2025-03-26'],
  ] as const) {
    await using client = await connect(memoryTarget(server), quick({ info, revisions: wanted }))
    assert.equal(client.revision, agreed)
  }
  await assert.rejects(connect(memoryTarget(server), quick({ revision: '1999-01-01' })), TypeError)
})

/** A target whose HTTP answers every request with a status and no message, until another transport is tried. */
function statuses(answer: (method: unknown) => number | undefined): {
  readonly target: Target
  readonly seen: string[]
} {
  const seen: string[] = []
  const behind = memoryTarget(server, { revisions: [legacy] })
  const target: Target = {
    key: `http:${Math.random()}`,
    transports: ['http', 'http+sse'],
    link(transport) {
      const inner = behind.link('memory')
      let lost: ((id: string | number, failure: CallFailed) => void) | undefined
      return {
        ...inner,
        transport,
        open(listener) {
          lost = (id, failure) => listener.lost(id, failure)
          return inner.open(listener)
        },
        async send(outgoing) {
          const { method } = JSON.parse(outgoing.text) as JsonObject
          seen.push(`${transport} ${String(method)}`)
          const status = transport === 'http' ? answer(method) : undefined
          if (status === undefined) return inner.send(outgoing)
          if (outgoing.id !== undefined) lost?.(outgoing.id, new CallFailed('HttpStatus', { ran: 'no', status }))
        },
      }
    },
  }
  return { target, seen }
}

for (const status of [401, 403, 429, 500, 502, 503]) {
  test(`HTTP ${status} says nothing of a server's age`, async () => {
    const { target, seen } = statuses(() => status)
    await assert.rejects(connect(target, quick({ info })), { kind: 'HttpStatus', status })
    assert.deepEqual(seen, ['http server/discover'])
  })
}

for (const status of [400, 404, 405]) {
  test(`HTTP ${status} to the probe leads to the handshake, and to that to the older transport`, async () => {
    const first = statuses((method) => (method === 'server/discover' ? status : undefined))
    await using client = await connect(first.target, quick({ info }))
    assert.deepEqual(first.seen.slice(0, 2), ['http server/discover', 'http initialize'])
    assert.equal(client.revision, legacy)
    const second = statuses(() => status)
    await using older = await connect(second.target, quick({ info }))
    assert.deepEqual(second.seen.slice(0, 3), ['http server/discover', 'http initialize', 'http+sse initialize'])
    assert.equal(older.revision, legacy)
  })
}
