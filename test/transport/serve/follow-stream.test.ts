import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '../../../src/model/store-unavailable.ts'
import { followStream } from '../../../src/transport/serve/follow-stream.ts'

test('whoever cannot read a stream does not go on following it', async () => {
  const followers = new Set<unknown>()
  const away = async (): Promise<never> => {
    throw new StoreUnavailable('away')
  }
  const following = {
    after: 1,
    write: () => {},
    start: () => assert.fail('nothing to read'),
    begin: (follower: unknown) => void followers.add(follower),
    end: (follower: unknown) => void followers.delete(follower),
  }
  await assert.rejects(followStream({ ...following, read: away, ask: async () => {} }), StoreUnavailable)
  await assert.rejects(followStream({ ...following, read: async () => undefined, ask: away }), StoreUnavailable)
  assert.equal(followers.size, 0)
})
