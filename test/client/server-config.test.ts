// Defends: what editors write is understood, what is wrong is told by what is wrong, and nothing is taken from the
// environment that was not given.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entriesOf, isDisabled, readEntry } from '../../src/client/server-config.ts'

test('the entries, wherever they are', () => {
  const entries = { a: { command: 'a' } }
  assert.deepEqual(entriesOf({ mcpServers: entries, other: 1 }), entries)
  assert.deepEqual(entriesOf({ servers: entries, inputs: [] }), entries)
  assert.deepEqual(entriesOf(entries), entries)
  const odd = { servers: { url: 'https://example.com/mcp' }, mcpServers: { command: 'b' } }
  assert.deepEqual(entriesOf(odd), odd)
})

test('a command, as it is written', () => {
  const entry = {
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'a server'],
    env: { A: 'b', N: 1, T: true, NONE: null },
    cwd: '/tmp',
    alwaysAllow: ['x'],
  }
  assert.deepEqual(readEntry(entry, undefined), {
    command: 'npx',
    args: ['-y', 'a server'],
    env: { A: 'b', N: '1', T: 'true' },
    cwd: '/tmp',
  })
})

test('a URL, with the transport that its type says', () => {
  const url = 'https://example.com/mcp'
  for (const [type, transports] of [
    [undefined, undefined],
    ['http', undefined],
    ['streamable-http', ['http']],
    ['streamableHttp', ['http']],
    ['sse', ['http+sse']],
  ] as const) {
    assert.deepEqual(readEntry({ url, type, headers: { A: 'b' } }, undefined), {
      url,
      headers: { A: 'b' },
      ...(transports && { transports }),
    })
  }
  assert.deepEqual(readEntry({ serverUrl: url }, undefined), { url, headers: {} })
})

test('what is wrong is said', () => {
  for (const [entry, message] of [
    ['npx', /not an object/],
    [null, /not an object/],
    [{}, /neither a command nor a url/],
    [{ command: 'a', url: 'https://example.com' }, /both/],
    [{ command: '' }, /command that is no text/],
    [{ command: ['a'] }, /command that is no text/],
    [{ command: 'a', args: 'b' }, /args/],
    [{ command: 'a', args: [1] }, /args/],
    [{ command: 'a', env: ['A=b'] }, /env/],
    [{ command: 'a', env: { A: {} } }, /env\.A/],
    [{ command: 'a', cwd: 1 }, /cwd/],
    [{ command: 'a', type: 'http' }, /its type is "http"/],
    [{ url: 'https://example.com', type: 'stdio' }, /its type is "stdio"/],
    [{ url: 'example.com' }, /not one of http or https/],
    [{ url: 'file:///etc/passwd' }, /not one of http or https/],
    [{ url: 'https://example.com', headers: 'A: b' }, /headers/],
  ] as const) {
    assert.throws(() => readEntry(entry, undefined), { name: 'TypeError', message })
  }
})

test('variables stand for what was given, and for nothing else', () => {
  const entry = {
    command: '${BIN}',
    args: ['${env:BIN}/${NONE:-a b}', '$BIN', '${input:token}', '${EMPTY}', '${NONE:-}'],
    env: { HOME: '${BIN}' },
  }
  assert.deepEqual(readEntry(entry, { BIN: '/bin', 'input:token': 's', EMPTY: '' }), {
    command: '/bin',
    args: ['/bin/a b', '$BIN', 's', '', ''],
    env: { HOME: '/bin' },
  })
  assert.deepEqual(readEntry({ command: 'sh', args: ['${PATH}'] }, undefined), {
    command: 'sh',
    args: ['${PATH}'],
    env: {},
  })
  for (const name of ['PATH', 'constructor']) {
    assert.throws(() => readEntry({ command: `\${${name}}` }, {}), { name: 'TypeError', message: new RegExp(name) })
  }
  // What a value holds is not read again.
  assert.deepEqual(readEntry({ command: '${A}' }, { A: '${B}', B: 'b' }), { command: '${B}', args: [], env: {} })
})

test('only what says so is disabled', () => {
  assert.deepEqual([{ disabled: true }, { disabled: false }, { disabled: 'true' }, {}, null].map(isDisabled), [
    true,
    false,
    false,
    false,
    false,
  ])
})
