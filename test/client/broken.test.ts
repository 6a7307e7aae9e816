// Defends: whatever is wrong with a server, a call has one documented outcome, in time, and nothing stays behind. The
// table stands in docs/client.md.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, isFailure, type ClientOptions } from '../../src/client.ts'
import { brokenFaults, brokenServer, type BrokenFault, type BrokenServerOptions } from '../../src/testing.ts'
import { eras, modern, quick } from './support.ts'

type Over = NonNullable<BrokenServerOptions['over']>
const overs: readonly Over[] = ['memory', 'socket', 'http']

/** What was answered, or the kind of failure and its `ran`: on every transport, or apart over HTTP, or there in each era. */
type Outcome =
  | string
  | { readonly http: string; readonly else: string }
  | { readonly modern: string; readonly legacy: string }

/** Most of a gigabyte takes a while, and only a limit in all ends what goes on for ever. */
const patience: Partial<Record<BrokenFault, ClientOptions>> = {
  floods: { timeoutMs: 10_000 },
  'progresses-forever': { maxTimeoutMs: 500 },
}

/** What calling `write`, which must not run twice, comes to. */
const outcomes: Readonly<Record<BrokenFault, Outcome>> = {
  stalls: 'TimedOut unknown',
  drops: 'answered',
  dies: 'Unreachable unknown',
  'answers-twice': 'answered',
  'answers-another-id': { http: 'ConnectionLost unknown', else: 'TimedOut unknown' },
  'answers-mistyped-id': { http: 'ConnectionLost unknown', else: 'TimedOut unknown' },
  'answers-garbage': { http: 'ConnectionLost unknown', else: 'TimedOut unknown' },
  floods: 'TooLarge unknown',
  'progresses-forever': 'TimedOut unknown',
  'speaks-another-revision': { modern: 'UnsupportedVersion no', legacy: 'answered' },
  'asks-undeclared': 'TimedOut unknown',
  'lies-about-capabilities': 'answered',
  'pages-forever': 'answered',
}

/** What keeps a process alive, or a connection of it open. */
const handles: ReadonlySet<string> = new Set(['TCPSocketWrap', 'TCPServerWrap', 'ProcessWrap', 'Timeout', 'Immediate'])
const open = (): readonly string[] => process.getActiveResourcesInfo().filter((name) => handles.has(name))

after(async () => {
  const before = performance.now()
  // Whatever a closed client or server takes back, it takes back soon.
  while (open().length > 0 && performance.now() - before < 3_000) await sleep(20)
  assert.deepEqual(open(), [], 'something was left behind')
})

const options = (more: ClientOptions = {}): ClientOptions =>
  quick({ timeoutMs: 400, maxTimeoutMs: 10_000, maxPages: 5, ...more })

function expected(fault: BrokenFault, over: Over, revision: string): string {
  const outcome = outcomes[fault]
  if (typeof outcome === 'string') return outcome
  if ('http' in outcome) return over === 'http' ? outcome.http : outcome.else
  return revision === modern ? outcome.modern : outcome.legacy
}

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'answered'
  } catch (error) {
    if (!isFailure(error)) throw error
    return `${error.kind} ${error.ran}`
  }
}

for (const fault of Object.keys(brokenFaults) as BrokenFault[]) {
  for (const over of overs) {
    for (const revision of eras) {
      test(`${fault}, ${over}, ${revision}`, async () => {
        await using server = await brokenServer(fault, {
          over,
          revisions: [revision],
          ...(fault === 'drops' && { times: 1 }),
        })
        await using client = await connect(server.target, options(patience[fault]))
        const since = performance.now()
        assert.equal(await outcomeOf(client.call('write')), expected(fault, over, revision))
        assert.ok(performance.now() - since < 12_000)
      })
    }
  }
}

test('what may run twice does, and what must not does not', async () => {
  for (const fault of ['drops', 'answers-garbage'] as const) {
    await using server = await brokenServer(fault, { over: 'http', times: 1 })
    await using client = await connect(server.target, options({ capabilities: {} }))
    assert.equal((await client.call('read')).text, 'done')
    assert.deepEqual(server.calls, ['read', 'read'])
  }
})

test('a list of pages without an end is read as far as it may be', async () => {
  await using server = await brokenServer('pages-forever')
  await using client = await connect(server.target, options({ maxPages: 5 }))
  assert.equal((await client.tools()).length, 10)
})

test('what a server declares and does not have is refused, and breaks nothing else', async () => {
  await using server = await brokenServer('lies-about-capabilities')
  await using client = await connect(server.target, options())
  await assert.rejects(client.prompts(), { kind: 'UnknownMethod', ran: 'no' })
  assert.equal((await client.tools()).length, 2)
})
