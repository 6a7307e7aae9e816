// Defends: an attempt to connect that is given up in whatever moment never ends with a client whose connection is closed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAttempt } from '../../src/client/attempt.ts'
import type { Connection } from '../../src/client/connection.ts'
import { deferred } from '../../src/client/deferred.ts'
import type { Caller } from '../../src/peer/calling.ts'

for (let turns = 0; turns < 8; turns++) {
  test(`given up ${turns} turns after the caller came: cancelled and closed, or neither`, async () => {
    const stop = new AbortController()
    const came = deferred<Caller>()
    let closed = 0
    const connection: Connection = {
      current: undefined,
      caller: () => came.promise,
      leave() {},
      retire() {},
      reconsider: async () => false,
      close: async () => void (closed += 1),
    }
    const attempt = createAttempt(stop.signal)
    const done = attempt.done(connection).then(
      () => 'connected',
      (error: { kind?: string }) => error.kind,
    )
    // The attempt only hands it on.
    came.resolve({} as Caller)
    for (let turn = 0; turn < turns; turn++) await undefined
    stop.abort()
    const outcome = await done
    assert.equal(outcome, closed > 0 ? 'Cancelled' : 'connected')
    if (outcome === 'Cancelled') assert.throws(attempt.check, { kind: 'Cancelled' })
    else attempt.check()
  })
}
