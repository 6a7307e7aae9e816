// The fuzzer itself: the same seed throws the same, and what must not be is seen where it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from '../../fuzz/judge.ts'
import { canary, nextText } from '../../fuzz/mutate.ts'
import { createDice } from '../../fuzz/random.ts'
import { doors } from '../../fuzz/doors.ts'
import { goldenServer } from '../golden/server.ts'

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}'
const noSchema = (): undefined => undefined

test('a seed is a case', () => {
  const texts = (seed: number): string[] => {
    const dice = createDice(seed)
    return Array.from({ length: 50 }, () => nextText([ping, pong], dice).toString('latin1'))
  }
  assert.deepEqual(texts(7), texts(7))
  assert.notDeepEqual(texts(7), texts(8))
  assert.ok(texts(7).some((text) => text !== ping && text !== pong))
})

test('silence, an answer too many, a stack, an echo and a wrong result are seen', () => {
  const faultsOf = (heard: readonly string[]): string => judge({ sent: [ping], heard, faults: [] }, noSchema).join('\n')
  assert.equal(faultsOf([pong]), '')
  assert.match(faultsOf([]), /0 answers/)
  assert.match(faultsOf([pong, pong]), /2 answers/)
  assert.match(faultsOf(['{"jsonrpc":"2.0","id":2,"result":{}}']), /an answer to nothing/)
  const error = (message: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32603, message } })
  assert.equal(faultsOf([error('Something unexpected went wrong.')]), '')
  assert.match(faultsOf([error(`no such method ${canary}`)]), /the peer's words/)
  assert.match(faultsOf([error('x\n    at handle (file:///a/b.ts:1:2)')]), /a stack/)
  assert.match(faultsOf(['{']), /not JSON/)
})

for (const name of ['memory', 'stdio'] as const) {
  test(`${name}: thirty cases of one seed hold`, async () => {
    for (let number = 0; number < 30; number++) {
      const dice = createDice(number)
      const texts = Array.from({ length: 6 }, () =>
        nextText(
          [ping, '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}'],
          dice,
        ),
      )
      const outcome = await doors[name]?.(goldenServer(), texts, dice)
      assert.ok(outcome)
      assert.deepEqual(judge(outcome, noSchema), [], texts.map(String).join('\n'))
    }
  })
}
