import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  commandTarget,
  httpTarget,
  memoryTarget,
  socketTarget,
  toTarget,
  type TargetLike,
} from '../../../src/transport/dial/target.ts'
import { connectInMemory } from '../../../src/transport/serve/memory.ts'
import { modern, peerOf, standIn } from '../serve/stand-in.ts'
import { talk } from './support.ts'

test('what says where a server is, and how it is remembered', () => {
  const known: readonly (readonly [TargetLike, key: string, ...transports: string[]])[] = [
    ['https://example.com/mcp#there', 'https://example.com/mcp', 'http', 'http+sse'],
    [new URL('HTTP://Example.com:80'), 'http://example.com/', 'http', 'http+sse'],
    ['unix:/run/s.sock', 'unix:/run/s.sock', 'socket'],
    ['unix:///run/s.sock', 'unix:/run/s.sock', 'socket'],
    ['unix:s.sock', 'unix:s.sock', 'socket'],
    ['\\\\.\\pipe\\mcp', 'unix:\\\\.\\pipe\\mcp', 'socket'],
    ['tcp:localhost:7000', 'tcp:localhost:7000', 'socket'],
    ['tcp://127.0.0.1:7000', 'tcp:127.0.0.1:7000', 'socket'],
    ['tcp:[::1]:7000', 'tcp:::1:7000', 'socket'],
    ['tcp::7000', 'tcp:127.0.0.1:7000', 'socket'],
    [{ path: '/s' }, 'unix:/s', 'socket'],
    [{ command: 'node', env: {} }, 'node', 'stdio'],
  ]
  for (const [where, key, ...transports] of known) {
    const target = toTarget(where)
    assert.deepEqual([target.key, ...target.transports], [key, ...transports])
    assert.deepEqual(
      transports.map((one) => target.link(one as 'http').transport),
      transports,
    )
  }
  const target = commandTarget({ command: 'x' })
  assert.equal(toTarget(target), target)
})

test('what makes one server another makes another key, without a word of it in there', () => {
  const node = { command: 'node', args: ['s.js'] }
  const apart: readonly TargetLike[] = [
    'https://example.com/mcp',
    'https://example.com/mcp?tenant=secret-a',
    'https://example.com/mcp?tenant=secret-b',
    node,
    { ...node, args: ['s.js', '--key', 'secret-a'] },
    { ...node, args: ['s.js', '--key', 'secret-b'] },
    { ...node, args: ['s.js --key', 'secret-b'] },
    { ...node, cwd: '/x' },
    { ...node, env: { TENANT: 'secret-a' } },
    { ...node, env: { TENANT: 'secret-b' } },
    { ...node, env: { PATH: undefined } },
    { ...node, inherit: 'all' },
  ]
  const keys = apart.map((where) => toTarget(where).key)
  assert.equal(new Set(keys).size, apart.length, keys.join('\n'))
  for (const key of keys) assert.doesNotMatch(key, /secret|tenant|--key/i)
  assert.deepEqual(
    apart.map((where) => toTarget(where).key),
    keys,
  )
})

test('a variable that is inherited by name counts by its value', (t) => {
  const keyNow = () => toTarget({ command: 'node', inherit: ['DRAGOMAN_TENANT'] }).key
  t.after(() => delete process.env.DRAGOMAN_TENANT)
  const keys = ['a', 'b'].map((tenant) => {
    process.env.DRAGOMAN_TENANT = tenant
    return keyNow()
  })
  assert.notEqual(keys[0], keys[1])
})

test('what says nothing is refused, a command first of all', () => {
  const wrong = [
    'npx server',
    '',
    'ftp://x',
    'ws://x',
    'tcp:host',
    'tcp:host:99999',
    'unix:',
    'https://me:pw@example.com',
    'http://',
  ]
  for (const where of wrong) assert.throws(() => toTarget(where), TypeError, where)
  for (const where of [undefined, null, 7])
    assert.throws(() => toTarget(where as never), { name: 'TypeError', message: /says of no server where it is/ })
  assert.throws(() => socketTarget({}), TypeError)
})

test('whose answers these are, and which ways are tried', () => {
  const authorization = { context: 'ada', headers: async () => ({}), challenged: async () => false }
  const target = httpTarget('http://localhost/mcp', { authorization, transports: ['http'] })
  assert.deepEqual([target.context, target.transports], ['ada', ['http']])
  assert.ok(!('context' in httpTarget('http://localhost/mcp')))
})

test('each server in memory is its own, and each link a connection', async () => {
  let connections = 0
  const target = memoryTarget(() => ((connections += 1), connectInMemory(peerOf(standIn()))))
  assert.notEqual(target.key, memoryTarget(() => connectInMemory(peerOf(standIn()))).key)
  for (let time = 0; time < 2; time++) {
    const { ask, link } = await talk(target.link('memory'))
    assert.ok((await ask(modern(1, 'server/discover'))).result)
    await link.close()
  }
  assert.equal(connections, 2)
})
