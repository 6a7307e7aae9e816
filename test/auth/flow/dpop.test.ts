import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint, decodeProtectedHeader, importJWK, jwtVerify, type JWTPayload } from 'jose'
import { memoryTokens } from '../../../src/oauth.ts'
import { agreeing, call, startWorld, unauthorized, type FakeIssuer, type FakeServer, type Received } from './support.ts'

/** Checks the proof of a request as RFC 9449 §4.3 has it. */
async function proofOf({ headers }: Received): Promise<{ claims: JWTPayload; thumbprint: string }> {
  const proof = String(headers.dpop)
  const { jwk, alg, typ } = decodeProtectedHeader(proof)
  assert.deepEqual([alg, typ], ['ES256', 'dpop+jwt'])
  assert.ok(jwk !== undefined && !('d' in jwk))
  const { payload } = await jwtVerify(proof, await importJWK(jwk, 'ES256'), { maxTokenAge: 60 })
  assert.ok(typeof payload.jti === 'string')
  return { claims: payload, thumbprint: await calculateJwkThumbprint(jwk) }
}

/** Has both servers do DPoP, with nonces where `nonces` says so. */
function binding(server: FakeServer, issuer: FakeIssuer, nonces: { issuer?: string; server?: string } = {}): void {
  const bound = new Map<string, string>()
  const jtis = new Set<unknown>()
  issuer.metadata = { dpop_signing_alg_values_supported: ['ES256'] }
  const token = issuer.routes.get('/token') ?? (() => 404)
  issuer.routes.set('/token', async (request) => {
    const { claims, thumbprint } = await proofOf(request)
    assert.deepEqual([claims.htm, claims.htu, claims.ath], ['POST', `${issuer.issuer}/token`, undefined])
    if (nonces.issuer !== undefined && claims.nonce !== nonces.issuer)
      return { status: 400, headers: { 'dpop-nonce': nonces.issuer }, body: { error: 'use_dpop_nonce' } }
    const { body } = (await token(request)) as { body: { access_token: string } }
    bound.set(body.access_token, thumbprint)
    return { body: { ...body, token_type: 'DPoP' } }
  })
  server.routes.set('/mcp', async (request) => {
    const [scheme, sent = ''] = (request.headers.authorization ?? '').split(' ')
    if (!bound.has(sent)) return { status: 401, headers: { 'www-authenticate': 'DPoP algs="ES256"' } }
    assert.equal(scheme, 'DPoP')
    const { claims, thumbprint } = await proofOf(request)
    assert.equal(bound.get(sent), thumbprint)
    assert.deepEqual([claims.htm, claims.htu], ['POST', server.url])
    assert.equal(claims.ath, createHash('sha256').update(sent).digest('base64url'))
    assert.ok(!jtis.has(claims.jti), 'each request has a proof of its own')
    jtis.add(claims.jti)
    if (nonces.server === undefined || claims.nonce === nonces.server) return { body: {} }
    const headers = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': nonces.server }
    return { status: 401, headers }
  })
}

test('a server that challenges by DPoP gets a token bound to a key, and a proof with each request', async () => {
  await using world = await startWorld()
  binding(world.server, world.issuer)
  const authorization = agreeing()
  assert.equal(await call(authorization, world.server.url), 200)
  assert.equal(await call(authorization, `${world.server.url}?page=2#x`), 200)
})

test('a server that says so in its metadata, too; and any, where that is wanted', async () => {
  for (const dpop of ['wanted', true] as const) {
    await using world = await startWorld()
    const { server, issuer } = world
    const mcp = server.routes.get('/mcp') ?? (() => 404)
    binding(server, issuer)
    const bound = server.routes.get('/mcp') ?? (() => 404)
    server.routes.set('/mcp', (request) => (request.headers.dpop === undefined ? mcp(request) : bound(request)))
    if (dpop === 'wanted') server.metadata = { dpop_bound_access_tokens_required: true }
    assert.equal(await call(agreeing({ dpop }), server.url), 200)
  }
})

test('nonces are supplied where they are wanted, at both servers, and change whenever the server likes', async () => {
  await using world = await startWorld()
  const nonces = { issuer: randomUUID(), server: randomUUID() }
  binding(world.server, world.issuer, nonces)
  const authorization = agreeing()
  assert.equal(await call(authorization, world.server.url), 200)
  assert.equal(world.issuer.asked().length, 2)
  nonces.server = randomUUID()
  assert.equal(await call(authorization, world.server.url), 200)
  const before = world.server.received.length
  assert.equal(await call(authorization, world.server.url), 200)
  assert.equal(world.server.received.length, before + 1, 'a nonce is kept')
  assert.equal(world.issuer.paths().filter((path) => path === '/authorize').length, 1)
})

test('a nonce that comes with an answer is used for the next request', async () => {
  await using world = await startWorld()
  const nonces: { server?: string } = {}
  binding(world.server, world.issuer, nonces)
  const authorization = agreeing()
  await call(authorization, world.server.url)
  const header = (name: string): string | undefined => (name === 'dpop-nonce' ? 'next' : undefined)
  authorization.answered?.({ url: world.server.url, method: 'POST' }, header)
  nonces.server = 'next'
  const before = world.server.received.length
  assert.equal(await call(authorization, world.server.url), 200)
  assert.equal(world.server.received.length, before + 1)
})

test('a server that is content with no nonce is given up', async () => {
  await using world = await startWorld()
  const nonces = { server: '' }
  binding(world.server, world.issuer, nonces)
  const mcp = world.server.routes.get('/mcp') ?? (() => 404)
  world.server.routes.set('/mcp', (request) => {
    nonces.server = randomUUID()
    return mcp(request)
  })
  await assert.rejects(call(agreeing(), world.server.url, 30), { kind: 'Unauthorized' })
})

test('the key goes with the token: to the next process, and through renewal', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  binding(server, issuer)
  const store = memoryTokens()
  let time = Date.now()
  assert.equal(await call(agreeing({ store }), server.url), 200)
  const next = agreeing({ store, clock: () => time })
  assert.equal(await call(next, server.url), 200)
  time += 3600_000
  assert.equal(await call(next, server.url), 200)
  const keys = await Promise.all(
    issuer.received.filter(({ path }) => path === '/token').map(async (one) => (await proofOf(one)).thumbprint),
  )
  assert.equal(keys.length, 2)
  assert.equal(keys[0], keys[1])
})

test('a token whose key was not kept is none', async () => {
  await using world = await startWorld()
  binding(world.server, world.issuer)
  const store = memoryTokens()
  await call(agreeing({ store }), world.server.url)
  const key = `dragoman/token//${world.server.url}`
  const text = (await store.get(key)) ?? ''
  for (const proofKey of [undefined, {}, { kty: 'EC' }]) {
    await store.swap(key, await store.get(key), JSON.stringify({ ...(JSON.parse(text) as object), proofKey }))
    assert.deepEqual(await agreeing({ store }).headers({ url: world.server.url, method: 'POST' }), {})
  }
  assert.equal(await call(agreeing({ store }), world.server.url), 200)
})

test('what the authorization server cannot bind is not used', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const mcp = server.routes.get('/mcp') ?? (() => 404)
  issuer.metadata = { dpop_signing_alg_values_supported: ['RS256'] }
  await assert.rejects(call(agreeing({ dpop: true }), server.url), unauthorized(/no DPoP proofs by ES256/))
  issuer.metadata = {}
  await assert.rejects(call(agreeing({ dpop: true }), server.url), unauthorized(/issued a bearer token/))
  binding(server, issuer)
  server.routes.set('/mcp', mcp)
  issuer.routes.set('/token', () => ({ body: { access_token: 'x', token_type: 'DPoP' } }))
  await assert.rejects(call(agreeing({ dpop: false }), server.url), unauthorized(/issued a dpop token/))
})
