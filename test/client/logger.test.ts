// Defends: a logger, and a listener, that fails breaks nothing that it is only told of.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connectAll, type ClientOptions } from '../../src/client.ts'
import { agreeing, call, startWorld } from '../auth/flow/support.ts'
import { everything } from './everything.ts'
import { connected, eras, legacy, quick } from './support.ts'
import { ways } from './ways.ts'

const fails = (): never => {
  throw new Error('the disk is full')
}
const rejects = (): void => Promise.reject(new Error('the disk is full')) as unknown as undefined
const broken = [
  { debug: fails, info: fails, warn: fails, error: fails },
  { debug: rejects, info: rejects, warn: rejects, error: rejects },
] as const
const store: ClientOptions = {
  verdicts: { get: fails, set: fails },
  cache: { get: fails, set: fails, delete: fails },
}

for (const revision of eras) {
  test(`${revision}: a client whose logger fails`, async () => {
    for (const logger of broken) {
      const server = everything()
      const onNotification = logger.debug
      await using pair = await connected(server, { revision, logger, ...store, elicit: fails, onNotification })
      pair.target.say({ method: 'notifications/nobody/knows' })
      assert.equal((await pair.client.tools()).length, 4)
      assert.equal((await pair.client.call('add', { a: 1, b: 2 })).isError, false)
      await pair.client.call('asks').catch(() => {})
      await pair.client.call('add', { a: 1, b: 2 })
      server.tool('late', {}, () => 'late')
      await delay(5)
      assert.equal((await pair.client.tools()).length, 5)
    }
  })

  test(`${revision}: word of progress to who fails`, async () => {
    for (const way of ways.filter(({ carries }) => carries.includes(revision)).slice(0, 4)) {
      await using met = await way.connect([revision], quick())
      for (const onProgress of [fails, rejects])
        assert.equal((await met.client.call('climbs', {}, { onProgress })).text, 'top', way.name)
    }
    await delay(5)
  })
}

test('many servers, of which one is down', async () => {
  for (const logger of broken) {
    const config = { here: everything(), gone: { command: 'no-such-command-at-all' }, wrong: {} }
    await using clients = connectAll(config, { ...quick({ revision: legacy, logger }), onFailure: logger.warn })
    assert.equal((await clients.tools()).length, 4)
    assert.equal(clients.failures.size, 2)
  }
  await delay(5)
})

test('an authorization', async () => {
  for (const logger of broken) {
    await using world = await startWorld()
    const authorization = agreeing({ logger })
    assert.equal(await call(authorization, world.server.url), 200)
  }
  await delay(5)
})
