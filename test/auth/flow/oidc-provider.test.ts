import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { exportJWK } from 'jose'
import { memoryTokens, oauth, type OAuthOptions } from '../../../src/oauth.ts'
import { call } from './support.ts'
import { startRealWorld, type RealWorld } from './provider.ts'

const robotKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const robot = {
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
} as const
const clients = [
  {
    ...robot,
    client_id: 'robot',
    client_secret: 'a robot has: 100% secrets',
    token_endpoint_auth_method: 'client_secret_basic',
  },
  {
    ...robot,
    client_id: 'key-robot',
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks: { keys: [{ ...(await exportJWK(robotKey.publicKey)), alg: 'ES256', kid: 'k1' }] },
  },
] as unknown as Parameters<typeof startRealWorld>[0]

const authorize = (world: RealWorld, options: Partial<OAuthOptions> = {}): ReturnType<typeof oauth> =>
  oauth({ grant: { type: 'authorization_code', open: world.open, timeoutMs: 5000 }, ...options })

test('registration, PKCE, resource indicator, code, refresh, the next process, revocation', async () => {
  await using world = await startRealWorld(clients)
  const store = memoryTokens()
  let time = Date.now()
  const first = authorize(world, { store, clock: () => time })
  assert.equal(await call(first, world.url), 200)
  assert.equal(world.last?.audience, world.url)
  assert.match(world.last?.scope ?? '', /read/)
  assert.equal(world.visits.length, 1)
  const before = await first.headers({ url: world.url, method: 'POST' })

  time += 570_000
  assert.equal(await call(first, world.url), 200)
  const after = await first.headers({ url: world.url, method: 'POST' })
  assert.notEqual(after.authorization, before.authorization)

  const second = authorize(world, { store, clock: () => time })
  assert.deepEqual(await second.headers({ url: world.url, method: 'POST' }), after)
  assert.equal(await call(second, world.url), 200)
  assert.equal(world.visits.length, 1, 'the user agreed once')

  await second.signOut()
  assert.equal(await world.provider.AccessToken.find((after.authorization ?? '').slice('Bearer '.length)), undefined)
})

test('a second port on this machine is registered anew, and agreed to', async () => {
  await using world = await startRealWorld(clients)
  const store = memoryTokens()
  await Promise.all(
    ['a', 'b'].map(async (user) => assert.equal(await call(authorize(world, { store, user }), world.url), 200)),
  )
  assert.equal(world.visits.length, 2)
})

test('client credentials, by secret and by key', async () => {
  await using world = await startRealWorld(clients)
  const key = String(robotKey.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  for (const client of [
    { id: 'robot', secret: 'a robot has: 100% secrets' },
    { id: 'key-robot', privateKey: key, keyId: 'k1' },
  ]) {
    assert.equal(await call(oauth({ grant: { type: 'client_credentials' }, client }), world.url), 200)
    assert.equal(world.last?.client, client.id)
    assert.equal(world.last?.audience, world.url)
  }
})

test('DPoP, with a nonce that the provider wants, through renewal', async () => {
  await using world = await startRealWorld(clients)
  world.scheme = 'DPoP'
  let time = Date.now()
  const authorization = authorize(world, { clock: () => time })
  assert.equal(await call(authorization, world.url), 200)
  assert.equal(world.last?.bound, true)
  time += 570_000
  assert.equal(await call(authorization, world.url), 200)
  assert.equal(world.last?.bound, true)
  assert.equal(world.visits.length, 1)
})

test('a code that somebody else redeems first is not worth anything', async () => {
  await using world = await startRealWorld(clients)
  const options = { grant: { type: 'authorization_code', open: world.open, timeoutMs: 5000 } } as const
  const authorization = oauth({
    ...options,
    network: {
      async fetch(url, init) {
        if (url === `${world.issuer}/token`) await fetch(url, init)
        return fetch(url, init)
      },
    },
  })
  await assert.rejects(call(authorization, world.url), { kind: 'Unauthorized', message: /invalid_grant/ })
})
