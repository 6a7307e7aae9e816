// Defends: what is remembered of a server is what was found out of it, never what a client wanted of it, and no server is taken
// to be old for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client.ts'
import { memoryVerdicts, type Verdict } from '../../src/client/verdicts.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget } from './memory-link.ts'
import { add, legacy, modern, quick } from './support.ts'

const server = serverOf({ tools: [add] })
const hourMs = 3_600_000

for (const wanted of [{ revision: '2025-06-18' }, { revisions: { max: legacy } }, { revisions: ['2024-11-05'] }]) {
  test(`what ${JSON.stringify(wanted)} came to tells nobody else how old a server is`, async () => {
    const verdicts = memoryVerdicts()
    const target = memoryTarget(server)
    for (const options of [wanted, {}, wanted, {}]) {
      await using client = await connect(target, quick({ verdicts, ...options }))
      assert.equal(client.revision === modern, options !== wanted)
      const lifecycle = (await verdicts.get(target.key))?.lifecycle
      assert.equal(lifecycle, target.links === 1 ? undefined : 'request')
    }
  })
}

test('that a server takes a revision without a handshake is its age, whoever wanted that', async () => {
  const verdicts = memoryVerdicts()
  const target = memoryTarget(server)
  await using client = await connect(target, quick({ verdicts, revision: modern }))
  assert.equal((await verdicts.get(target.key))?.revision, client.revision)
})

test('a server that was found to be old is asked again after an hour, and not before', async () => {
  for (const [ago, options, questioned] of [
    [hourMs - 60_000, {}, false],
    [hourMs + 1, {}, true],
    [-hourMs - 60_000, {}, true],
    [1_000, { verdictTtlMs: 500 }, true],
    [2 * hourMs, { verdictTtlMs: Infinity }, false],
  ] as const) {
    const verdicts = memoryVerdicts()
    const target = memoryTarget(server)
    const verdict: Verdict = { lifecycle: 'session', revision: legacy, transport: 'memory', at: Date.now() - ago }
    await verdicts.set(target.key, verdict)
    await using client = await connect(target, quick({ verdicts, ...options }))
    assert.equal(client.revision, questioned ? modern : legacy)
    // What was not found out anew does not stay true for longer.
    if (!questioned) assert.equal((await verdicts.get(target.key))?.at, verdict.at)
  }
})

test('a server that is old still is found to be so for another hour', async () => {
  const verdicts = memoryVerdicts()
  const target = memoryTarget(server, { revisions: [legacy] })
  const at = Date.now() - 2 * hourMs
  await verdicts.set(target.key, { lifecycle: 'session', revision: legacy, transport: 'memory', at })
  await using client = await connect(target, quick({ verdicts }))
  assert.equal(client.revision, legacy)
  assert.ok(((await verdicts.get(target.key))?.at ?? 0) > at + hourMs)
})
