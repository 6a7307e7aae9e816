import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inputRequired, tool } from '../../src/index.ts'
import { playTranscript } from '../../src/testing.ts'
import { readTranscript, writeTranscript } from '../../src/testing/transcript.ts'
import { readable } from '../../src/testing/json-text.ts'
import fc from 'fast-check'
import { serverOf } from '../server/support.ts'

const me =
  '{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}'

const server = () =>
  serverOf({
    tools: [
      tool('hi', {}, () => 'hi'),
      tool('ask', {}, (_, ctx) =>
        ctx.state === undefined ? inputRequired({ inputRequests: { r: { method: 'roots/list' } }, state: 1 }) : 'asked',
      ),
    ],
  })

const call = (id: number, name: string, more = ''): string =>
  `> {"jsonrpc": "2.0", "id": ${id}, "method": "tools/call", "params": {"name": "${name}", ${more}"_meta": <me>}}`

test('a transcript as it was played is one that passes', async () => {
  const written = `# A greeting.\n@ let me ${me}\n\n${call(1, 'hi')}\n\n# Two at once.\n${call(2, 'hi')}\n${call(3, 'nope')}\n\n# The end.\n`
  const first = await playTranscript(server(), written)
  assert.match(first.difference ?? '', /^line 4, after\n> /)
  const second = await playTranscript(server(), first.text)
  assert.equal(second.difference, undefined)
  assert.equal(second.text, first.text)
  assert.match(first.text, /^# A greeting\.\n@ let me .*\n\n> .*\n< \{\n/)
  assert.match(first.text, /# The end\.\n$/)
})

test('a difference is told by line, with what was sent and what is not as written', async () => {
  const played = await playTranscript(server(), `@ let me ${me}\n${call(1, 'nope')}\n`)
  const spoiled = played.text.replace('no such tool', 'such a tool')
  const { difference } = await playTranscript(server(), spoiled)
  assert.equal(
    difference,
    [
      'line 2, after',
      call(1, 'nope'),
      '- < {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "There is such a tool."}}',
      '+ < {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "There is no such tool."}}',
    ].join('\n'),
  )
})

test('the same lines in another order are a difference', async () => {
  const played = await playTranscript(server(), `@ let me ${me}\n${call(1, 'nope')}\n${call(2, 'nope')}\n`)
  const lines = played.text.trimEnd().split('\n')
  const swapped = [...lines.slice(0, 3), lines[4], lines[3]].join('\n')
  assert.match((await playTranscript(server(), swapped)).difference ?? '', /another order/)
})

test('what differs from run to run has a name, which the client can use', async () => {
  const written = `@ let me ${me}\n${call(1, 'ask')}\n\n${call(2, 'ask', '"inputResponses": {"r": {"roots": []}}, "requestState": "<state 1>", ')}\n`
  const { text, crossed } = await playTranscript(server(), written)
  assert.match(text, /"requestState": "<state 1>"\n/)
  assert.match(text, /"asked"/)
  assert.match(text, /"io.modelcontextprotocol\/serverInfo": "<server>"/)
  assert.deepEqual(
    crossed.map(({ from }) => from),
    ['client', 'server', 'client', 'server'],
  )
  assert.doesNotMatch(crossed.map(({ text: one }) => one).join(''), /<state|<me>|<server>/)
})

test('settings go before what the test says', async () => {
  const shake =
    '> {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}'
  const { text } = await playTranscript(server(), `@ revisions 2024-11-05\n${shake}\n`, { revisions: ['2025-06-18'] })
  assert.match(text, /"protocolVersion": "2024-11-05"/)
})

test('losses stand where they happened', async () => {
  const rich = serverOf({ tools: [tool('rich', { title: 'Rich' }, () => 'x')] })
  const shake =
    '> {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}'
  const { text } = await playTranscript(rich, `${shake}\n\n> {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n`)
  assert.match(text, /tools\/list"\}\n~ field-dropped Tool\.title\n< /)
})

for (const [what, text, complaint] of [
  ['an answer before any question', '< {}\n', /before the client/],
  ['a line that is none of them', 'hello\n', /line 1/],
  ['a line that goes on with nothing', '\n  "x"\n', /line 2|nothing/],
] as const) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => readTranscript(text),
      (error: unknown) => error instanceof SyntaxError && complaint.test(error.message),
    )
  })
}

test('what was read is written as it was', () => {
  const text = '# One.\n@ strict\n\n> {"a":\n  1}\n> x\n< {}\n~ lost\n# Two.\n> y\n\n# The end.\n'
  const transcript = readTranscript(text)
  assert.equal(
    writeTranscript(
      transcript,
      transcript.turns.map(({ heard }) => heard),
    ),
    text,
  )
  assert.deepEqual(
    transcript.turns.map(({ sent }) => sent.length),
    [2, 1],
  )
  assert.ok(transcript.settings.has('strict'))
})

test('readable JSON is the same JSON, in lines that are no wider than they must be', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = readable(value, '  ')
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      for (const line of text.split('\n').slice(1)) assert.match(line, /^ {2}/)
    }),
  )
})
