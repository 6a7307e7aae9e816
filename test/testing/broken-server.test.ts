// Each way to be broken, as a link without any client behind it sees it, on every way to a server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brokenFaults, brokenServer, type BrokenFault, type BrokenServerOptions } from '../../src/testing.ts'
import { call, modern, modernCall, rpc } from '../transport/serve/stand-in.ts'
import { failureOf, mirrored, talk, until, type Talk } from '../transport/dial/support.ts'

type Over = NonNullable<BrokenServerOptions['over']>
const overs: readonly Over[] = ['memory', 'socket', 'http']

/** What comes within a moment of a call: messages by what they are, what is lost, and what else is told. */
type Outcome = readonly string[]

const kinds: Record<BrokenFault, Record<Over, Outcome>> = {
  stalls: { memory: [], socket: [], http: [] },
  drops: {
    memory: ['closed ConnectionLost'],
    socket: ['closed ConnectionLost'],
    http: ['rejected ConnectionLost unknown'],
  },
  dies: {
    memory: ['closed ConnectionLost'],
    socket: ['closed ConnectionLost'],
    http: ['rejected ConnectionLost unknown'],
  },
  'answers-twice': same(['result 1', 'result 1']),
  'answers-another-id': {
    ...same(['result "somebody-else"']),
    http: ['result "somebody-else"', 'lost ConnectionLost'],
  },
  'answers-mistyped-id': { ...same(['result "1"']), http: ['result "1"', 'lost ConnectionLost'] },
  'answers-garbage': { ...same(['noise Segmentation']), http: ['noise Segmentation', 'lost ConnectionLost'] },
  floods: { ...same(['noise', 'lost TooLarge']), http: ['lost TooLarge'] },
  'progresses-forever': same(['notifications/progress', 'notifications/progress']),
  'speaks-another-revision': same(['error 1']),
  'asks-undeclared': same(['sampling/createMessage']),
  'lies-about-capabilities': same(['result 1']),
  'pages-forever': same(['result 1']),
}

function same(outcome: Outcome): Record<Over, Outcome> {
  return { memory: outcome, socket: outcome, http: outcome }
}

async function outcomeOf({ send, heard }: Talk, expected: number): Promise<Outcome> {
  const message = modernCall(1, 'write')
  const rejected: string[] = []
  // Over HTTP a call that stalls has not left before there is a response.
  void send(message, { headers: mirrored(message) }).catch(({ kind, ran }) => rejected.push(`rejected ${kind} ${ran}`))
  const told = (): Outcome => [
    ...rejected,
    ...heard.messages.map(
      ({ message: { method, id, error } }) => method ?? `${error ? 'error' : 'result'} ${JSON.stringify(id)}`,
    ),
    ...heard.noises.map(({ text }) => `noise ${text}`),
    ...heard.losses.map(({ failure }) => `lost ${failure.kind}`),
    ...heard.ends.map(({ kind }) => `closed ${kind}`),
  ]
  for (let tries = 0; tries < 400 && told().length < expected; tries++) await sleep(5)
  await sleep(30)
  return told()
}

for (const fault of Object.keys(brokenFaults) as BrokenFault[]) {
  for (const over of overs) {
    test(`${fault}, over ${over}`, { timeout: 20_000 }, async () => {
      await using server = await brokenServer(fault, { over })
      const talking = await talk(server.target.link(server.target.transports[0] ?? 'memory'))
      // It introduces itself properly.
      const discover = modern('d', 'server/discover')
      assert.ok((await talking.ask(discover, { headers: mirrored(discover) })).result)
      talking.heard.messages.length = 0
      const expected = kinds[fault][over]
      const outcome = await outcomeOf(talking, expected.length)
      assert.deepEqual(
        outcome.slice(0, Math.max(expected.length, 1)).map((one, index) => one.slice(0, expected[index]?.length)),
        expected,
      )
      assert.deepEqual(server.calls, ['write'])
      if (fault === 'dies') {
        const again = server.target.link(server.target.transports[0] ?? 'memory')
        const failure = await failureOf(
          talk(again).then(({ send, link }) => send(rpc(1, 'ping')).finally(() => link.close())),
        )
        assert.deepEqual([failure.kind, failure.ran], ['Unreachable', 'no'])
      }
      await talking.link.close()
    })
  }
}

test('what it speaks can be pinned, and how often it fails can be bounded', async () => {
  await using server = await brokenServer('answers-another-id', { revisions: ['2025-06-18'], times: 1, over: 'http' })
  assert.match(server.url ?? '', /^http:/)
  const { agree, ask, send, heard, link } = await talk(server.target.link('http'))
  await agree('2025-06-18')
  await send(call(1, 'read'))
  await until(() => heard.losses.length > 0)
  const right = await ask(call(2, 'read'))
  assert.equal(right.result?.content?.[0]?.text, 'done')
  assert.deepEqual(server.calls, ['read', 'read'])
  await link.close()
})

test('a handshake is answered, and then by the ways of another revision', async () => {
  await using server = await brokenServer('speaks-another-revision')
  const { agree, ask, link } = await talk(server.target.link('memory'))
  await agree('2025-11-25')
  assert.equal((await ask(call(1, 'write'))).result?.['resultType'], 'input_required')
  await link.close()
})

test('capabilities that are not there, and pages that never end', async () => {
  await using liar = await brokenServer('lies-about-capabilities')
  const lied = await talk(liar.target.link('memory'))
  const introduction = await lied.agree('2025-06-18')
  const claimed = introduction.result?.['capabilities'] as Record<string, unknown>
  assert.ok(claimed['prompts'] && claimed['resources'] && claimed['completions'])
  assert.equal((await lied.ask(rpc(1, 'prompts/list'))).error?.code, -32601)
  await lied.link.close()
  await using pager = await brokenServer('pages-forever')
  const { agree, ask, link } = await talk(pager.target.link('memory'))
  await agree('2025-06-18')
  for (const [id, cursor] of [
    [1, undefined],
    [2, 'page-1'],
    [3, 'page-2'],
  ] as const) {
    const { result } = await ask(rpc(id, 'tools/list', cursor === undefined ? {} : { cursor }))
    assert.deepEqual([result?.['nextCursor'], (result?.['tools'] as unknown[]).length], [`page-${id}`, 2])
  }
  await link.close()
})

test('the documentation names every way to be broken', () => {
  const page = readFileSync('docs/testing.md', 'utf8')
  for (const fault of Object.keys(brokenFaults)) assert.match(page, new RegExp(`\\| \`${fault}\` \\| `), fault)
})
