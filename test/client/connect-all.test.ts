// Defends: many servers are used as one; none is connected before it is wanted, and none that fails keeps another from
// working.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { connectAll, type ConnectAllOptions, type Clients } from '../../src/client.ts'
import { serveHttp, tool } from '../../src/index.ts'
import { CallFailed } from '../../src/model/failure.ts'
import type { Target } from '../../src/peer/link.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'
import { add, eras, quick } from './support.ts'

const echo = tool('echo', {}, () => 'echo')
const dotted = tool('files.read', {}, () => 'read')
const together = (config: object, options: ConnectAllOptions = {}): Clients =>
  connectAll(config, { ...quick(), ...options })
const namesOf = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name)

/** A target that fails until it is mended. */
function failing(target: MemoryTarget): Target & { broken: boolean; readonly tried: number } {
  let tried = 0
  return {
    key: target.key,
    transports: ['memory'],
    broken: true,
    get tried() {
      return tried
    },
    link(transport) {
      tried += 1
      if (!this.broken) return target.link(transport)
      return { ...target.link(transport), open: () => Promise.reject(new CallFailed('Unreachable', { ran: 'no' })) }
    },
  }
}

for (const revision of eras) {
  test(`${revision}: one list, and calls that find their server`, async () => {
    const [a, b] = [memoryTarget(serverOf({ tools: [add, echo] })), memoryTarget(serverOf({ tools: [echo, dotted] }))]
    await using clients = together({ mcpServers: { b, a } }, { revision })
    assert.deepEqual(clients.servers, ['b', 'a'])
    assert.equal(a.links + b.links, 0)
    const tools = await clients.tools()
    const hashed = tools[1]?.name ?? ''
    assert.deepEqual(namesOf(tools), ['b_echo', hashed, 'a_add', 'a_echo'])
    assert.match(hashed, /^b_files_read_[\da-f]{12}$/)
    assert.deepEqual([tools[1]?.server, tools[1]?.tool], ['b', 'files.read'])
    assert.deepEqual(tools[2]?.inputSchema, add.config.input)
    assert.deepEqual((await clients.call('a_add', { a: 1, b: 2 })).structured, { sum: 3 })
    assert.equal((await clients.call(hashed)).text, 'read')
    assert.equal(a.links + b.links, 2)
    assert.equal((await clients.client('a')).revision, revision)
  })
}

test('a call connects its own server only, also by a name that was never listed here', async () => {
  const [a, b] = [memoryTarget(serverOf({ tools: [echo, dotted] })), memoryTarget(serverOf({ tools: [echo] }))]
  await using first = together({ a, b })
  assert.equal((await first.call('a_echo')).text, 'echo')
  assert.deepEqual([a.links, b.links, a.sent().includes('tools/list')], [1, 0, false])
  const hashed = namesOf(await first.tools()).find((name) => name.startsWith('a_files')) ?? ''
  await using second = together({ a, b })
  assert.equal((await second.call(hashed)).text, 'read')
  assert.deepEqual([a.links, b.links], [2, 1])
})

test('a name that no server has is refused, whoever might have had it', async () => {
  const a = memoryTarget(serverOf({ tools: [echo] }))
  await using clients = together({ a, off: { command: 'nowhere', disabled: true } })
  await assert.rejects(clients.call('a_nothing'), { name: 'Refusal', ran: 'no' })
  for (const name of ['other_echo', 'off_echo', 'a_files_read_0123456789ab', '', 'a']) {
    await assert.rejects(clients.call(name), { kind: 'UnknownTool', ran: 'no' }, name)
  }
  assert.deepEqual(clients.servers, ['a'])
  await assert.rejects(clients.client('off'), TypeError)
})

test('a bad entry and servers that are down are told by name, and the others work', async () => {
  const told: [string, string][] = []
  const down = failing(memoryTarget(serverOf({ tools: [echo] })))
  await using clients = together(
    {
      bad: { commmand: 'x' },
      fine: memoryTarget(serverOf({ tools: [echo] })),
      down,
      missing: { command: 'dragoman-no-such-command' },
      nobody: { url: 'http://127.0.0.1:1/mcp' },
    },
    {
      onFailure: (server, { kind }) => {
        told.push([server, kind])
        throw new Error('a listener that throws')
      },
    },
  )
  assert.deepEqual(told, [['bad', 'Unreachable']])
  assert.match(clients.failures.get('bad')?.message ?? '', /"bad".*neither a command nor a url/)
  assert.deepEqual(namesOf(await clients.tools()), ['fine_echo'])
  assert.deepEqual([...clients.failures.keys()], ['bad', 'down', 'missing', 'nobody'])
  assert.deepEqual(told.map(([server]) => server).sort(), ['bad', 'down', 'missing', 'nobody'])
  for (const failure of clients.failures.values()) assert.deepEqual([failure.kind, failure.ran], ['Unreachable', 'no'])
  assert.equal((await clients.call('fine_echo')).text, 'echo')
  await assert.rejects(clients.call('down_echo'), { kind: 'Unreachable', ran: 'no' })
  await assert.rejects(clients.call('down_files_read_0123456789ab'), { kind: 'Unreachable' })
  await assert.rejects(clients.client('bad'), { kind: 'Unreachable' })
  down.broken = false
  assert.deepEqual(namesOf(await clients.tools()), ['fine_echo', 'down_echo'])
  assert.deepEqual([...clients.failures.keys()], ['bad', 'missing', 'nobody'])
})

test('a server that fails again and again is left alone for a while', async () => {
  const down = failing(memoryTarget(serverOf({ tools: [echo] })))
  await using clients = together({ down }, { breaker: { failures: 2, coolMs: 1_000 } })
  for (let i = 0; i < 5; i++) assert.deepEqual(await clients.tools(), [])
  assert.equal(down.tried, 2)
  assert.equal(clients.failures.get('down')?.kind, 'Unreachable')
  await assert.rejects(clients.call('down_echo'), { kind: 'CircuitOpen', ran: 'no' })
  down.broken = false
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  assert.equal((await clients.call('down_echo')).text, 'echo')
  assert.equal(clients.failures.size, 0)
})

test('a server that takes long is waited for as long as is wanted, and is there later', async () => {
  const slow = memoryTarget(serverOf({ tools: [echo] }))
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const target: Target = {
    key: slow.key,
    transports: ['memory'],
    link(transport) {
      const link = slow.link(transport)
      return { ...link, open: (listener) => gate.then(() => link.open(listener)) }
    },
  }
  await using clients = together({ fine: memoryTarget(serverOf({ tools: [echo] })), target })
  await clients.client('fine')
  assert.deepEqual(namesOf(await clients.tools({ timeoutMs: 300 })), ['fine_echo'])
  assert.equal(clients.failures.get('target')?.kind, 'TimedOut')
  const stop = new AbortController()
  const cancelled = assert.rejects(clients.tools({ signal: stop.signal }), { kind: 'Cancelled', ran: 'no' })
  stop.abort()
  await cancelled
  open()
  assert.deepEqual(namesOf(await clients.tools()), ['fine_echo', 'target_echo'])
  assert.equal(clients.failures.size, 0)
  assert.equal(slow.links, 1)
})

for (const revision of eras) {
  test(`${revision}: changes of all servers are told as one list, and servers that come back are in it`, async () => {
    const [first, second] = [serverOf({ tools: [echo] }), serverOf({ tools: [echo] })]
    const down = failing(memoryTarget(second))
    const clients = together({ first: memoryTarget(first), down }, { revision })
    const seen: string[] = []
    for await (const tools of clients.watchTools()) {
      const list = namesOf(tools).join()
      seen.push(list)
      if (list === 'first_echo') down.broken = false
      if (list === 'first_echo,down_echo') first.add(add)
      if (list === 'first_echo,first_add,down_echo') second.add(add)
      if (list === 'first_echo,first_add,down_echo,down_add') break
    }
    assert.deepEqual(seen.slice(-4), [
      'first_echo',
      'first_echo,down_echo',
      'first_echo,first_add,down_echo',
      'first_echo,first_add,down_echo,down_add',
    ])
    const rest = (async () => {
      for await (const tools of clients.watchTools()) if (tools.length === 4) void clients.close()
    })()
    await rest
    await assert.rejects(clients.tools(), { kind: 'Cancelled', ran: 'no' })
    await assert.rejects(clients.call('first_echo'), { kind: 'Cancelled', ran: 'no' })
  })
}

test('nothing configured is an empty list; what is no object is refused', async () => {
  await using clients = together({ mcpServers: {} })
  assert.deepEqual(await clients.tools(), [])
  for await (const tools of clients.watchTools()) assert.deepEqual(tools, [])
  for (const config of [null, [], 'x']) assert.throws(() => together(config as object), TypeError)
})

test('a server that lists a tool twice offers it once', async () => {
  const target = memoryTarget(serverOf({ tools: [echo] }))
  target.alter = (message, way) => {
    const result = message.result as { readonly tools?: readonly object[] } | undefined
    if (way === '>' || !result?.tools) return message
    return { ...message, result: { ...result, tools: [...result.tools, ...result.tools] } } as typeof message
  }
  await using clients = together({ target })
  assert.deepEqual(namesOf(await clients.tools()), ['target_echo'])
})

test('commands and URLs as editors write them, with variables, headers and what is different for one', async () => {
  const secrets: (string | undefined)[] = []
  const secret = tool('secret', {}, (_args, ctx) => {
    secrets.push(ctx.header('x-secret'), ctx.header('x-common'))
    return 'told'
  })
  await using http = await serveHttp(serverOf({ tools: [secret] }), { port: 0 })
  const script = fileURLToPath(new URL('./server-process.ts', import.meta.url))
  const file: unknown = JSON.parse(
    JSON.stringify({
      servers: {
        process: { type: 'stdio', command: '${NODE}', args: ['--import', 'tsx', script] },
        web: { type: 'http', url: http.url, headers: { 'X-Secret': '${env:SECRET}' } },
        old: { type: 'sse', url: new URL('/sse', http.url).href },
      },
    }),
  )
  await using clients = together(file as object, {
    env: { NODE: process.execPath, SECRET: 's' },
    headers: { 'X-Common': 'c' },
    silenceMs: 10_000,
    each: (name) => (name === 'old' ? { headers: { 'X-Common': 'other' } } : undefined),
  })
  const names = namesOf(await clients.tools())
  assert.deepEqual([...clients.failures], [])
  assert.ok(names.some((name) => name.startsWith('process_')))
  assert.equal((await clients.call('web_secret')).text, 'told')
  assert.equal((await clients.call('old_secret')).text, 'told')
  assert.deepEqual(secrets, ['s', 'c', undefined, 'other'])
})
