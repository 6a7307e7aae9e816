import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryTokens, type OAuth, type OAuthOptions, type TokenStore } from '../../../src/oauth.ts'
import { agreeing, call, refusal, startWorld, type FakeIssuer } from './support.ts'

const hour = 3600_000
const refreshes = (issuer: FakeIssuer): number =>
  issuer.asked().filter((form) => form.get('grant_type') === 'refresh_token').length
const prompts = (issuer: FakeIssuer): number => issuer.paths().filter((path) => path === '/authorize').length
const header = async (authorization: OAuth, url: string): Promise<string | undefined> =>
  (await authorization.headers({ url, method: 'POST' })).authorization

/** A clock that a test moves, and an authorization that goes by it. */
function timed(store: TokenStore = memoryTokens(), options: Partial<OAuthOptions> = {}): { time: number; auth: OAuth } {
  const clock = { time: Date.now(), auth: agreeing() }
  clock.auth = agreeing({ store, clock: () => clock.time, ...options })
  return clock
}

test('a token is renewed a minute before its end, with the same resource, and the user is left alone', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const one = timed()
  await call(one.auth, server.url)
  const first = await header(one.auth, server.url)
  one.time += hour - 61_000
  assert.equal(await header(one.auth, server.url), first)
  one.time += 2000
  const second = await header(one.auth, server.url)
  assert.notEqual(second, first)
  assert.equal(await call(one.auth, server.url), 200)
  const form = issuer.asked().at(-1)
  assert.equal(form?.get('resource'), server.url)
  assert.equal(form?.has('scope'), false)
  assert.deepEqual([refreshes(issuer), prompts(issuer)], [1, 1])
})

test('a token with a short life is not renewed with every request', async () => {
  await using world = await startWorld()
  world.issuer.expiresIn = 20
  const one = timed()
  await call(one.auth, world.server.url)
  await call(one.auth, world.server.url)
  assert.equal(refreshes(world.issuer), 0)
  one.time += 16_000
  await call(one.auth, world.server.url)
  assert.equal(refreshes(world.issuer), 1)
})

test('a token that the server refuses is renewed; where it cannot be, the user is asked', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const one = timed()
  await call(one.auth, server.url)
  issuer.tokens.clear()
  assert.equal(await call(one.auth, server.url), 200)
  assert.deepEqual([refreshes(issuer), prompts(issuer)], [1, 1])
  issuer.tokens.clear()
  issuer.refreshable.clear()
  assert.equal(await call(one.auth, server.url), 200)
  assert.deepEqual([refreshes(issuer), prompts(issuer)], [2, 2])
})

test('a refusal is reported where renewing is out of order, and the user not asked again for what may soon be had', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const one = timed()
  await call(one.auth, server.url)
  issuer.tokens.clear()
  const issue = issuer.routes.get('/token')
  assert.ok(issue)
  issuer.routes.set('/token', () => 503)
  await assert.rejects(call(one.auth, server.url), { kind: 'Unreachable', ran: 'no' })
  assert.equal(prompts(issuer), 1)
  issuer.routes.set('/token', issue)
  assert.equal(await call(one.auth, server.url), 200)
  assert.equal(prompts(issuer), 1)
})

test('a refusal that names more scopes is not met by renewing', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const one = timed()
  server.scope = 'read'
  await call(one.auth, server.url)
  issuer.tokens.clear()
  server.scope = 'read write'
  assert.equal(await call(one.auth, server.url), 200)
  assert.deepEqual([refreshes(issuer), prompts(issuer)], [0, 2])
})

test('what another process got is taken, and renewed where it has ended since', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const store = memoryTokens()
  const [one, other] = [timed(store), timed(store)]
  await call(one.auth, server.url)
  await call(other.auth, server.url)
  issuer.tokens.clear()
  await call(other.auth, server.url)
  assert.equal(await call(one.auth, server.url), 200)
  assert.equal(refreshes(issuer), 1)
  issuer.tokens.clear()
  await call(other.auth, server.url)
  one.time += hour
  issuer.tokens.clear()
  assert.equal(await call(one.auth, server.url), 200)
  assert.deepEqual([refreshes(issuer), prompts(issuer)], [3, 1])
})

test('a token that cannot be renewed is still sent, so that nobody is taken for a nameless caller', async () => {
  await using world = await startWorld()
  const one = timed()
  await call(one.auth, world.server.url)
  const first = await header(one.auth, world.server.url)
  world.issuer.refreshable.clear()
  one.time += 2 * hour
  assert.equal(await header(one.auth, world.server.url), first)
})

test('many requests renew once', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const one = timed()
  await call(one.auth, server.url)
  one.time += hour
  const sent = await Promise.all(Array.from({ length: 20 }, () => header(one.auth, server.url)))
  assert.equal(new Set(sent).size, 1)
  assert.equal(refreshes(issuer), 1)
})

test('many processes renew once: a refresh token is used a single time', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const store = memoryTokens()
  const first = timed(store)
  await call(first.auth, server.url)
  const slow = issuer.routes.get('/token') ?? (() => 404)
  issuer.routes.set('/token', async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    return slow(request)
  })
  // Each has what is in the store, and nothing else in common, as processes have.
  const others = Array.from({ length: 6 }, () => timed(store))
  for (const other of others) await header(other.auth, server.url)
  for (const other of others) other.time += hour
  const sent = await Promise.all(others.map((other) => header(other.auth, server.url)))
  assert.equal(new Set(sent).size, 1)
  assert.equal(refreshes(issuer), 1)

  // A refusal in another is settled by what they have got by now.
  issuer.tokens.delete(((await header(first.auth, server.url)) ?? '').slice('Bearer '.length))
  assert.equal(await call(first.auth, server.url), 200)
  assert.deepEqual([refreshes(issuer), prompts(issuer)], [1, 1])
})

test('a process that died while it renewed does not keep the others out', async () => {
  await using world = await startWorld()
  const { server } = world
  const store = memoryTokens()
  const one = timed(store)
  await call(one.auth, server.url)
  const key = `dragoman/token//${server.url}`
  const text = (await store.get(key)) ?? ''
  const lease = { by: 'dead', until: one.time + hour + 60_000 }
  await store.swap(key, text, JSON.stringify({ ...(JSON.parse(text) as object), lease }))
  one.time += hour
  const waiting = header(one.auth, server.url)
  const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 150, 'waiting'))])
  assert.equal(early, 'waiting')
  one.time += 61_000
  assert.match((await waiting) ?? '', /^Bearer access-/)
})

test('a lease by a clock that is ahead is not waited for without end', async () => {
  await using world = await startWorld()
  const store = memoryTokens()
  const one = timed(store)
  await call(one.auth, world.server.url)
  const key = `dragoman/token//${world.server.url}`
  const text = (await store.get(key)) ?? ''
  const lease = { by: 'ahead', until: one.time + 1000 * hour }
  await store.swap(key, text, JSON.stringify({ ...(JSON.parse(text) as object), lease }))
  one.time += hour
  const waiting = header(one.auth, world.server.url)
  await new Promise((resolve) => setTimeout(resolve, 100))
  one.time += 31_000
  await waiting
  assert.equal(refreshes(world.issuer), 1)
})

test('a token that somebody put meanwhile is never overwritten', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const store = memoryTokens()
  const one = timed(store)
  await call(one.auth, server.url)
  const key = `dragoman/token//${server.url}`
  const token = issuer.routes.get('/token') ?? (() => 404)
  for (const outcome of [token, () => refusal('invalid_grant')]) {
    let newer = ''
    issuer.routes.set('/token', async (request) => {
      const text = (await store.get(key)) ?? ''
      newer = JSON.stringify({
        ...(JSON.parse(text) as object),
        accessToken: `newer-${newer.length}${outcome.length}`,
        lease: undefined,
      })
      assert.ok(await store.swap(key, text, newer))
      return outcome(request)
    })
    one.time += hour
    assert.match((await header(one.auth, server.url)) ?? '', /^Bearer newer-/)
    assert.equal(await store.get(key), newer)
  }
})

test('an authorization server out of order costs nothing while the token is good, and no credentials after', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const one = timed()
  await call(one.auth, server.url)
  const first = await header(one.auth, server.url)
  const token = issuer.routes.get('/token') ?? (() => 404)
  issuer.routes.set('/token', () => 503)
  one.time += hour - 30_000
  assert.equal(await header(one.auth, server.url), first)
  assert.equal(await header(one.auth, server.url), first)
  assert.equal(refreshes(issuer), 1, 'not with every request')
  one.time += 60_000
  await assert.rejects(header(one.auth, server.url), { kind: 'Unreachable', ran: 'no' })
  issuer.routes.set('/token', token)
  assert.notEqual(await header(one.auth, server.url), first)
  assert.equal(prompts(issuer), 1)
})

test('what is kept serves the next process, and what others kept there is no matter', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const store = memoryTokens()
  await call(agreeing({ store, user: 'a/b' }), server.url)
  assert.equal(await call(agreeing({ store, user: 'a/b' }), server.url), 200)
  assert.equal(prompts(issuer), 1)
  assert.equal(await header(agreeing({ store, user: 'a' }), server.url), undefined)
  const key = `dragoman/token/x/${server.url}`
  for (const text of ['nonsense', '[]', '{}', '{"issuer":"x","accessToken":"y","client":{},"found":"issuer"}']) {
    await store.swap(key, await store.get(key), text)
    assert.equal(await header(agreeing({ store, user: 'x' }), server.url), undefined, text)
  }
})

test('a secret of the configuration is not written to the store', async () => {
  await using world = await startWorld()
  const values: (string | undefined)[] = []
  const memory = memoryTokens()
  const store: TokenStore = {
    get: (key) => memory.get(key),
    swap: (key, before, after) => (values.push(after), memory.swap(key, before, after)),
  }
  const one = timed(store, { client: { id: 'given', secret: 'hush-hush' } })
  await call(one.auth, world.server.url)
  one.time += hour
  assert.equal(await call(one.auth, world.server.url), 200)
  assert.equal(refreshes(world.issuer), 1)
  assert.match(world.issuer.received.at(-1)?.headers.authorization ?? '', /^Basic /)
  assert.ok(values.length > 0 && !values.join('').includes('hush-hush'))
})

test('signing out revokes, and forgets for everybody', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  issuer.metadata = { revocation_endpoint: `${issuer.issuer}/revoke` }
  issuer.routes.set('/revoke', () => 200)
  const store = memoryTokens()
  const one = timed(store)
  await call(one.auth, server.url)
  const [refresh] = issuer.refreshable
  await one.auth.signOut()
  assert.equal(issuer.received.at(-1)?.form.get('token'), refresh)
  assert.equal(await header(one.auth, server.url), undefined)
  assert.equal(await header(timed(store).auth, server.url), undefined)
})

test('a store that cannot be read is told, and asked again', async () => {
  await using world = await startWorld()
  const memory = memoryTokens()
  let broken = true
  const get = (key: string): Promise<string | undefined> =>
    broken ? Promise.reject(new Error('locked')) : memory.get(key)
  const one = timed({ ...memory, get })
  await assert.rejects(header(one.auth, world.server.url), { kind: 'Unauthorized', message: /token store.*locked/ })
  broken = false
  assert.equal(await call(one.auth, world.server.url), 200)
})
