import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { decodeProtectedHeader, exportJWK, jwtVerify } from 'jose'
import { oauth, type OAuthOptions } from '../../../src/oauth.ts'
import { call, refusal, startSite, startWorld, unauthorized } from './support.ts'

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

test('client credentials: a token for the client itself, by its secret', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  server.scope = 'read'
  const authorization = oauth({ grant: { type: 'client_credentials' }, client: { id: 'robot', secret: 'hush' } })
  assert.equal(await call(authorization, server.url), 200)
  const { form, headers } = issuer.received.at(-1) ?? assert.fail()
  assert.deepEqual(Object.fromEntries(form), { grant_type: 'client_credentials', resource: server.url, scope: 'read' })
  assert.equal(headers.authorization, `Basic ${btoa('robot:hush')}`)
  assert.ok(!issuer.paths().includes('/authorize') && !issuer.paths().includes('/register'))
})

test('client credentials need a client that was given', async () => {
  await using world = await startWorld()
  const authorization = oauth({ grant: { type: 'client_credentials' } })
  await assert.rejects(call(authorization, world.server.url), unauthorized(/know the client beforehand/))
  assert.ok(!world.issuer.paths().includes('/register'))
})

const keys: readonly [string, NonNullable<OAuthOptions['client']>, typeof ec.publicKey, string][] = [
  [
    'PEM',
    { id: 'robot', privateKey: String(ec.privateKey.export({ type: 'pkcs8', format: 'pem' })), keyId: 'k1' },
    ec.publicKey,
    'ES256',
  ],
  [
    'RSA',
    { id: 'robot', privateKey: String(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })), algorithm: 'RS256' },
    rsa.publicKey,
    'RS256',
  ],
  [
    'JWK',
    { id: 'robot', privateKey: { ...(await exportJWK(ec.privateKey)), alg: 'ES256' } as never },
    ec.publicKey,
    'ES256',
  ],
]
for (const [name, client, publicKey, alg] of keys)
  test(`client credentials by a private key, ${name}`, async () => {
    await using world = await startWorld()
    const { server, issuer } = world
    assert.equal(await call(oauth({ grant: { type: 'client_credentials' }, client }), server.url), 200)
    const form = issuer.asked()[0] ?? assert.fail()
    assert.equal(form.get('client_assertion_type'), 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    const assertion = form.get('client_assertion') ?? ''
    const { payload } = await jwtVerify(assertion, publicKey, {
      audience: issuer.issuer,
      issuer: 'robot',
      subject: 'robot',
    })
    assert.ok(payload.jti !== undefined && (payload.exp ?? 0) > Date.now() / 1000)
    assert.equal(decodeProtectedHeader(assertion).alg, alg)
  })

test('a workload identity: its assertion is the grant, for the authorization server and resource it is told', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const targets: unknown[] = []
  const assertion = (target: object): string => `jwt-${targets.push(target)}`
  const authorization = oauth({ grant: { type: 'jwt_bearer', assertion }, client: { id: 'workload' } })
  assert.equal(await call(authorization, server.url), 200)
  assert.deepEqual(targets, [{ issuer: issuer.issuer, resource: server.url, scope: undefined }])
  const form = Object.fromEntries(issuer.asked()[0] ?? [])
  assert.deepEqual(form, { grant_type: jwtBearer, assertion: 'jwt-1', resource: server.url, client_id: 'workload' })
})

test('a refusal without a user is final for a while: no second try, no other grant', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  let time = Date.now()
  let called = 0
  const assertion = (): string => `jwt-${(called += 1)}`
  const grant = { type: 'jwt_bearer', assertion } as const
  const authorization = oauth({ grant, client: { id: 'workload' }, clock: () => time })
  for (const code of ['invalid_grant', 'invalid_scope', 'unauthorized_client']) {
    issuer.routes.set('/token', () => refusal(code))
    for (const _ of [1, 2])
      await assert.rejects(call(authorization, server.url), {
        kind: 'Unauthorized',
        message: new RegExp(code),
        data: { error: code },
      })
    time += 11_000
  }
  assert.equal(called, 3)
  assert.deepEqual(new Set(issuer.asked().map((form) => form.get('grant_type'))), new Set([jwtBearer]))
})

test('enterprise-managed: the identity is exchanged for an assertion, and that for a token', async () => {
  await using world = await startWorld()
  await using idp = await startSite()
  const { server, issuer } = world
  const idJag = 'urn:ietf:params:oauth:token-type:id-jag'
  const answer = { access_token: 'the-id-jag', issued_token_type: idJag, token_type: 'N_A', expires_in: 300 }
  idp.routes.set('/token', () => ({ body: answer }))
  server.scope = 'read'
  const authorization = oauth({
    grant: {
      type: 'enterprise_managed',
      tokenEndpoint: `${idp.origin}/token`,
      client: { id: 'at-idp', secret: 'idp-secret', method: 'client_secret_post' },
      subjectToken: () => 'the-id-token',
    },
    client: { id: 'at-as', secret: 'as-secret' },
  })
  assert.equal(await call(authorization, server.url), 200)
  assert.deepEqual(Object.fromEntries(idp.received[0]?.form ?? []), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: idJag,
    audience: issuer.issuer,
    resource: server.url,
    scope: 'read',
    subject_token: 'the-id-token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    client_id: 'at-idp',
    client_secret: 'idp-secret',
  })
  const { form, headers } = issuer.received.at(-1) ?? assert.fail()
  assert.equal(form.get('grant_type'), jwtBearer)
  assert.equal(form.get('assertion'), 'the-id-jag')
  assert.equal(headers.authorization, `Basic ${btoa('at-as:as-secret')}`)
})

test('enterprise-managed: what is no ID-JAG is not passed on', async () => {
  await using world = await startWorld()
  await using idp = await startSite()
  idp.routes.set('/token', () => ({ body: { access_token: 'x', token_type: 'Bearer' } }))
  const grant = {
    type: 'enterprise_managed',
    tokenEndpoint: `${idp.origin}/token`,
    client: { id: 'at-idp' },
    subjectToken: () => 'id',
  } as const
  const authorization = oauth({ grant, client: { id: 'at-as', secret: 's' } })
  await assert.rejects(call(authorization, world.server.url), unauthorized(/not an ID-JAG/))
  assert.equal(world.issuer.asked().length, 0)
})

test('an ID token in the answer is nothing to us, good or bad', async () => {
  await using world = await startWorld()
  const token = world.issuer.routes.get('/token') ?? (() => 404)
  world.issuer.routes.set('/token', async (request) => {
    const { body } = (await token(request)) as { body: object }
    return { body: { ...body, id_token: 'not.a.jwt' } }
  })
  const authorization = oauth({ grant: { type: 'client_credentials' }, client: { id: 'robot', secret: 's' } })
  assert.equal(await call(authorization, world.server.url), 200)
})
