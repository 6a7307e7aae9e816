import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryTokens } from '../../../src/oauth.ts'
import { agreeing, browser, call, startIssuer, startWorld, unauthorized, type FakeIssuer } from './support.ts'

const scopes = (issuer: FakeIssuer): readonly (string | null)[] =>
  issuer.received.filter(({ path }) => path === '/authorize').map(({ query }) => query.get('scope'))

test('scopes that do not suffice are widened, and what was granted before is kept', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const authorization = agreeing()
  server.scope = 'read'
  server.needs = ['read']
  assert.equal(await call(authorization, server.url), 200)
  server.needs = ['write']
  assert.equal(await call(authorization, server.url), 200)
  server.needs = ['read', 'write', 'list']
  assert.equal(await call(authorization, server.url), 200)
  assert.deepEqual(scopes(issuer), ['read', 'read write', 'read write list'])
})

test('a server that is not content with what it asked for is given up', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const header = 'Bearer error="insufficient_scope", scope="admin"'
  const mcp = server.routes.get('/mcp') ?? (() => 404)
  server.scope = 'admin'
  server.routes.set('/mcp', (request) =>
    request.headers.authorization === undefined
      ? mcp(request)
      : { status: 403, headers: { 'www-authenticate': header } },
  )
  await assert.rejects(call(agreeing(), server.url), { kind: 'Unauthorized', status: 403, data: { scope: 'admin' } })
  assert.equal(scopes(issuer).length, 1)
})

test('a user who grants less is asked twice, not for ever', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const token = issuer.routes.get('/token') ?? (() => 404)
  issuer.routes.set('/token', async (request) => {
    const answer = (await token(request)) as { body: { access_token: string } }
    issuer.tokens.set(answer.body.access_token, 'read')
    return { body: { ...answer.body, scope: 'read' } }
  })
  server.scope = 'read'
  const authorization = agreeing()
  await call(authorization, server.url)
  server.needs = ['write']
  await assert.rejects(call(authorization, server.url), unauthorized(/not content/))
  assert.deepEqual(scopes(issuer), ['read', 'read write', 'read write'])
})

test('other refusals are none of our business', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const authorization = agreeing()
  await call(authorization, server.url)
  for (const header of ['', 'Bearer', 'Bearer error="forbidden"', 'Bearer error="insufficient_scope"']) {
    server.routes.set('/mcp', () => ({ status: 403, headers: { 'www-authenticate': header } }))
    assert.equal(await call(authorization, server.url), 403)
  }
  assert.equal(scopes(issuer).length, 1)
})

test('requests that are refused at once ask the user once', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const authorization = agreeing()
  const all = (): Promise<readonly number[]> =>
    Promise.all(Array.from({ length: 8 }, () => call(authorization, server.url)))
  assert.deepEqual(new Set(await all()), new Set([200]))
  server.needs = ['write']
  assert.deepEqual(new Set(await all()), new Set([200]))
  assert.deepEqual(scopes(issuer), [null, 'write'])
})

test('a user who declines has declined for all who waited', async () => {
  await using world = await startWorld()
  let opened = 0
  const open = async (): Promise<void> => {
    opened += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
    throw new Error('declined')
  }
  const authorization = agreeing({ grant: { type: 'authorization_code', open } })
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => call(authorization, world.server.url)))
  assert.ok(results.every((result) => result.status === 'rejected'))
  assert.equal(opened, 1)
})

test('a server that refuses every token is given up after two', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  server.routes.set('/mcp', () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' } }))
  await assert.rejects(call(agreeing(), server.url), {
    kind: 'Unauthorized',
    status: 401,
    message: /refuses the tokens/,
  })
  assert.equal(scopes(issuer).length, 2)
})

test('a server that takes every other request does not have the user asked for ever', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const authorization = agreeing()
  const round = async (): Promise<void> => {
    issuer.tokens.clear()
    issuer.refreshable.clear()
    await call(authorization, server.url)
  }
  for (let count = 0; count < 5; count++) await round()
  await assert.rejects(round(), unauthorized(/again and again/))
  assert.equal(scopes(issuer).length, 5)
})

test('a server that moves to another authorization server is followed, with nothing from the old one', async () => {
  await using world = await startWorld()
  await using next = await startIssuer()
  const { server, issuer } = world
  const authorization = agreeing({ store: memoryTokens() })
  server.scope = 'read'
  await call(authorization, server.url)
  server.issuer = next
  server.scope = undefined
  assert.equal(await call(authorization, server.url), 200)
  assert.deepEqual(next.paths(), ['/.well-known/oauth-authorization-server', '/register', '/authorize', '/token'])
  assert.deepEqual(scopes(next), [null])
  const old = issuer.received.find(({ path }) => path === '/authorize')?.query.get('client_id')
  assert.ok(!next.received.some(({ text, query }) => text.includes(old ?? '-') || query.get('client_id') === old))
})

test('a challenge for a token that was never given out is not for the new one', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const authorization = agreeing({ grant: { type: 'authorization_code', open: browser } })
  const challenge = { url: server.url, method: 'POST', status: 401, header: () => 'Bearer' }
  assert.equal(await authorization.challenged(challenge), true)
  assert.equal(await authorization.challenged(challenge), true)
  assert.equal(scopes(issuer).length, 1)
})
