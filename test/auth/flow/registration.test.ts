import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { loopbackRedirect, memoryTokens, type OAuthOptions } from '../../../src/oauth.ts'
import { agreeing, browser, call, startIssuer, startWorld, unauthorized, type FakeIssuer } from './support.ts'

const registrations = (issuer: FakeIssuer): readonly Record<string, unknown>[] =>
  issuer.received
    .filter(({ path }) => path === '/register')
    .map(({ text }) => JSON.parse(text) as Record<string, unknown>)
const clients = (issuer: FakeIssuer): readonly (string | null)[] =>
  issuer.received.filter(({ path }) => path === '/authorize').map(({ query }) => query.get('client_id'))

test('a client that was given comes first, then its document where the server reads those, then registration', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const clientDocument = 'https://app.example/client.json'
  issuer.metadata = { client_id_metadata_document_supported: true }
  await call(agreeing({ client: { id: 'given' }, clientDocument }), server.url)
  await call(agreeing({ clientDocument }), server.url)
  assert.deepEqual(clients(issuer), ['given', clientDocument])
  assert.deepEqual(registrations(issuer), [])
  issuer.metadata = {}
  await call(agreeing({ clientDocument }), server.url)
  assert.equal(registrations(issuer).length, 1)
  await assert.rejects(call(agreeing({ registration: false }), server.url), unauthorized(/know the client beforehand/))
  issuer.metadata = { registration_endpoint: undefined }
  await assert.rejects(call(agreeing(), server.url), unauthorized(/know the client beforehand/))
})

test('a client document is a URL of https with a path', () => {
  for (const clientDocument of ['', 'x', 'http://app.example/c.json', 'https://app.example', 'https://app.example/'])
    assert.throws(() => agreeing({ clientDocument }), TypeError, clientDocument)
  assert.throws(() => agreeing({ server: 'nowhere' }), TypeError)
})

test('a registration says what kind of application it is, and that it refreshes', async () => {
  await using world = await startWorld()
  await call(agreeing({ registration: { client_name: 'Shopper', grant_types: [] } }), world.server.url)
  const [sent] = registrations(world.issuer)
  const authorize = world.issuer.received.find(({ path }) => path === '/authorize')
  assert.deepEqual(sent, {
    client_name: 'Shopper',
    application_type: 'native',
    redirect_uris: [authorize?.query.get('redirect_uri')],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
})

test('a page on the web registers as such', async () => {
  await using world = await startWorld()
  const uri = 'https://app.example/callback'
  const redirect = {
    listen: () => Promise.resolve({ uri, answer: () => Promise.reject(new Error('closed')), close: () => undefined }),
  }
  const grant = { type: 'authorization_code', open: () => undefined, redirect } as const
  await assert.rejects(call(agreeing({ grant }), world.server.url), unauthorized(/closed/))
  assert.equal(registrations(world.issuer)[0]?.application_type, 'web')
})

test('a registration is made once for each issuer, and again where the redirect has changed or its secret ended', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const [store, other] = [memoryTokens(), await startIssuer()]
  let time = Date.now()
  const options = (user: string): Partial<OAuthOptions> => ({ store, user, clock: () => time })
  await call(agreeing(options('a')), server.url)
  await call(agreeing(options('b')), server.url)
  assert.equal(registrations(issuer).length, 1)

  server.issuer = other
  await call(agreeing(options('c')), server.url)
  assert.equal(registrations(other).length, 1)
  assert.notEqual(clients(other)[0], clients(issuer)[0])
  server.issuer = issuer

  const grant = (path: `/${string}`): OAuthOptions['grant'] => ({
    type: 'authorization_code',
    open: browser,
    redirect: loopbackRedirect({ path }),
  })
  issuer.routes.set('/register', () => ({
    status: 201,
    body: { client_id: 'x', client_secret: 's', client_secret_expires_at: time / 1000 + 60 },
  }))
  await call(agreeing({ ...options('d'), grant: grant('/other') }), server.url)
  assert.equal(registrations(issuer).length, 2)
  await call(agreeing({ ...options('e'), grant: grant('/other') }), server.url)
  assert.equal(registrations(issuer).length, 2)
  time += 61_000
  await call(agreeing({ ...options('f'), grant: grant('/other') }), server.url)
  assert.equal(registrations(issuer).length, 3)
  await other[Symbol.asyncDispose]()
})

test('a client that was given is bound to its issuer, and the credentials go nowhere else', async () => {
  await using world = await startWorld()
  await using other = await startIssuer()
  const { server, issuer } = world
  const store = memoryTokens()
  const client = { id: 'given', secret: 'hush' }
  for (const options of [{ client: { ...client, issuer: issuer.issuer } }, { client, store }]) {
    server.issuer = issuer
    await call(agreeing(options), server.url)
    server.issuer = other
    await assert.rejects(call(agreeing(options), server.url), unauthorized(/belongs to another authorization server/))
  }
  const sent = other.received.map(({ text, headers }) => `${text} ${headers.authorization}`).join(' ')
  assert.ok(!/given|hush/.test(sent))
  const both = [
    { id: 'one', issuer: issuer.issuer },
    { id: 'two', issuer: other.issuer },
  ]
  await call(agreeing({ client: both }), server.url)
  assert.deepEqual(clients(other), ['two'])
})

test('an authorization server that knows us is taken where there are several', async () => {
  await using world = await startWorld()
  await using other = await startIssuer()
  const { server, issuer } = world
  server.metadata = { authorization_servers: [other.issuer, issuer.issuer] }
  assert.equal(await call(agreeing({ client: { id: 'known', issuer: issuer.issuer } }), server.url), 200)
  assert.equal(other.received.length, 0)
})

test('a registration that is refused is told with its reason; one that is answered sparsely is good', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  issuer.routes.set('/register', () => ({
    status: 400,
    body: { error: 'invalid_redirect_uri', error_description: 'no' },
  }))
  await assert.rejects(
    call(agreeing(), server.url),
    unauthorized(/refuses to register the client \(invalid_redirect_uri, no\)/),
  )
  issuer.routes.set('/register', () => ({ body: { client_id: 'sparse', client_secret: 'hush' } }))
  assert.equal(await call(agreeing(), server.url), 200)
  assert.match(issuer.received.at(-1)?.headers.authorization ?? '', /^Basic /)
})

test('a registration that the server has forgotten is made anew', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const store = memoryTokens()
  await call(agreeing({ store, user: 'a' }), server.url)
  const token = issuer.routes.get('/token') ?? (() => 404)
  const [first] = clients(issuer)
  issuer.routes.set('/token', (request) =>
    request.form.get('client_id') === first ? { status: 401, body: { error: 'invalid_client' } } : token(request),
  )
  assert.equal(await call(agreeing({ store, user: 'b' }), server.url), 200)
  assert.equal(registrations(issuer).length, 2)

  // Where the user only sees an error page, the wait ends, and the next try begins anew.
  issuer.routes.set('/authorize', () => ({ body: 'unknown client' }))
  const grant = { type: 'authorization_code', open: browser, timeoutMs: 50 } as const
  await assert.rejects(call(agreeing({ store, user: 'c', grant }), server.url), unauthorized(/in time/))
  await assert.rejects(call(agreeing({ store, user: 'c', grant }), server.url), unauthorized(/in time/))
  assert.equal(registrations(issuer).length, 3)
})

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const methods: readonly [listed: readonly string[] | undefined, OAuthOptions['client'], sent: RegExp][] = [
  [undefined, { id: 'a-b_c', secret: 'p w:%' }, /^Basic a-b_c:p\+w%3A%25$/],
  [['client_secret_post', 'client_secret_basic'], { id: 'a', secret: 's' }, /^Basic a:s$/],
  [['client_secret_post'], { id: 'a', secret: 's' }, /^post a s$/],
  [['private_key_jwt', 'client_secret_basic'], { id: 'a', secret: 's', privateKey: pem }, /^assertion$/],
  [['client_secret_basic'], { id: 'a', secret: 's', method: 'client_secret_post' }, /^post a s$/],
  [['none'], { id: 'a' }, /^none a$/],
]
for (const [listed, client, sent] of methods)
  test(`at a token endpoint that takes ${String(listed)}, ${JSON.stringify(client)} says ${sent.source}`, async () => {
    await using world = await startWorld()
    world.issuer.metadata = { token_endpoint_auth_methods_supported: listed }
    assert.equal(await call(agreeing({ ...(client !== undefined && { client }) }), world.server.url), 200)
    const { form, headers } = world.issuer.received.at(-1) ?? assert.fail()
    const basic = /^Basic (.*)$/.exec(headers.authorization ?? '')?.[1]
    const said =
      basic === undefined
        ? form.has('client_assertion')
          ? 'assertion'
          : form.has('client_secret')
            ? `post ${form.get('client_id')} ${form.get('client_secret')}`
            : `none ${form.get('client_id')}`
        : `Basic ${atob(basic)}`
    assert.match(said, sent)
  })
