import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../../src/client.ts'
import { quick } from '../../client/support.ts'
import { agreeing, call, startIssuer, startServer, startWorld, unauthorized } from './support.ts'

const resourcePath = '/.well-known/oauth-protected-resource/mcp'
const serverPath = '/.well-known/oauth-authorization-server'
const bare = (): { status: number; headers: Record<string, string> } => ({
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
})
const metadataPaths = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => path.includes('well-known'))

test('the resource metadata is where the challenge says, and nowhere else', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  server.routes.set('/here', server.routes.get(resourcePath) ?? (() => 404))
  server.routes.delete(resourcePath)
  const mcp = server.routes.get('/mcp') ?? (() => 404)
  server.routes.set('/mcp', async (request) => {
    if (request.headers.authorization !== undefined) return mcp(request)
    return { status: 401, headers: { 'www-authenticate': `Basic, Bearer resource_metadata="${server.origin}/here"` } }
  })
  assert.equal(await call(agreeing(), server.url), 200)
  assert.deepEqual([...new Set(server.paths())], ['/mcp', '/here'])
  assert.deepEqual(metadataPaths(issuer.paths()), [serverPath])

  server.routes.delete('/here')
  await assert.rejects(call(agreeing(), server.url), unauthorized(/no metadata at .*\/here/))
})

test('without a word in the challenge it is at the path of the server, else at the root', async () => {
  for (const path of [resourcePath, '/.well-known/oauth-protected-resource']) {
    await using world = await startWorld()
    const { server } = world
    const [mcp, metadata] = [server.routes.get('/mcp'), server.routes.get(resourcePath)]
    server.routes.delete(resourcePath)
    server.routes.set(path, metadata ?? (() => 404))
    server.routes.set('/mcp', (request) =>
      request.headers.authorization === undefined ? bare() : (mcp?.(request) ?? 404),
    )
    assert.equal(await call(agreeing(), server.url), 200)
    assert.deepEqual(metadataPaths(server.paths()), path === resourcePath ? [path] : [resourcePath, path])
  }
})

test('metadata at another origin is not read', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const header = `Bearer resource_metadata="${issuer.origin}/metadata"`
  server.routes.set('/mcp', () => ({ status: 401, headers: { 'www-authenticate': header } }))
  await assert.rejects(call(agreeing(), server.url), unauthorized(/resource metadata of .* is at/))
  assert.equal(issuer.received.length, 0)
})

test('metadata must be about this server: the same origin, the same path or one above it', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const refused = [
    'https://evil.example/mcp',
    `${server.url}/below`,
    `${server.origin}/mc`,
    `${server.url}#x`,
    'mcp',
    7,
  ]
  for (const resource of refused) {
    server.metadata = { resource }
    await assert.rejects(call(agreeing(), server.url), unauthorized(/another resource/), String(resource))
  }
  assert.equal(issuer.received.length, 0)
  for (const resource of [server.url, `${server.url}/`, server.origin, `${server.origin}/`]) {
    server.metadata = { resource }
    assert.equal(await call(agreeing(), server.url), 200)
    const authorize = issuer.received.filter(({ path }) => path === '/authorize').at(-1)
    // Byte for byte as the server writes it, in both requests.
    assert.equal(authorize?.query.get('resource'), resource)
    assert.equal(issuer.asked().at(-1)?.get('resource'), resource)
  }
})

test('a server out of order is no old server', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  for (const status of [500, 503, 429]) {
    server.routes.set(resourcePath, () => status)
    await assert.rejects(call(agreeing(), server.url), { name: 'CallFailed', kind: 'Unreachable' })
  }
  server.routes.set(resourcePath, () => ({ body: { resource: server.url, authorization_servers: [issuer.issuer] } }))
  issuer.routes.set(serverPath, () => 502)
  await assert.rejects(call(agreeing(), server.url), { name: 'CallFailed', kind: 'Unreachable' })
})

test('metadata has to name an authorization server', async () => {
  await using world = await startWorld()
  for (const authorization_servers of [undefined, [], 'x', [7]]) {
    world.server.metadata = { authorization_servers }
    await assert.rejects(call(agreeing(), world.server.url), unauthorized(/names no authorization server/))
  }
})

const forms = [
  { path: '', places: [serverPath, '/.well-known/openid-configuration'] },
  {
    path: '/tenant',
    places: [
      `${serverPath}/tenant`,
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ],
  },
]
for (const { path, places } of forms)
  for (const [at, place] of places.entries())
    test(`an authorization server with the path '${path}' may have its metadata at ${place}`, async () => {
      await using world = await startWorld(path)
      const { server, issuer } = world
      const metadata = issuer.routes.get(`${serverPath}${path}`) ?? (() => 404)
      issuer.routes.delete(`${serverPath}${path}`)
      // A page for every path is no metadata.
      if (at > 0) issuer.routes.set(places[0] ?? '', () => ({ body: '<html>Welcome</html>' }))
      issuer.routes.set(place, metadata)
      assert.equal(await call(agreeing(), server.url), 200)
      assert.deepEqual(metadataPaths(issuer.paths()), places.slice(0, at + 1))
    })

test('the issuer of the metadata is the same text, or the metadata is not used', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  for (const other of [`${issuer.issuer}/`, 'https://honest.example', issuer.issuer.toUpperCase(), undefined]) {
    issuer.metadata = { issuer: other }
    await assert.rejects(call(agreeing(), server.url), unauthorized(/is not the metadata of/))
  }
  assert.deepEqual([...new Set(issuer.paths())], [serverPath])
})

test('an authorization server inside, named by one outside, is not asked', async () => {
  await using world = await startWorld()
  world.server.metadata = { authorization_servers: ['http://169.254.169.254/latest'] }
  await assert.rejects(call(agreeing(), world.server.url), unauthorized(/must begin with https:/))
  world.server.metadata = { authorization_servers: ['https://169.254.169.254'] }
  await assert.rejects(call(agreeing(), world.server.url), unauthorized(/may not be asked/))
})

test('before 2025-06-18 the server is its own authorization server: by metadata at its origin, else at known paths', async () => {
  for (const documented of [true, false]) {
    await using issuer = await startIssuer()
    await using server = await startServer(issuer)
    server.routes.delete(resourcePath)
    const mcp = server.routes.get('/mcp')
    server.routes.set('/mcp', (request) =>
      request.headers.authorization === undefined ? bare() : (mcp?.(request) ?? 404),
    )
    for (const path of ['/authorize', '/token', '/register'])
      server.routes.set(path, issuer.routes.get(path) ?? (() => 404))
    issuer.respond = (answer) => answer.delete('iss')
    if (documented)
      server.routes.set(serverPath, () => ({
        body: {
          issuer: server.origin,
          authorization_endpoint: `${server.origin}/authorize`,
          token_endpoint: `${server.origin}/token`,
          registration_endpoint: `${server.origin}/register`,
        },
      }))
    assert.equal(await call(agreeing(), server.url), 200)
    const authorize = server.received.find(({ path }) => path === '/authorize')
    assert.equal(authorize?.query.get('code_challenge_method'), 'S256')
    assert.equal(authorize?.query.has('resource'), false, 'its revision knows no resource')
  }
})

test('before 2025-06-18, too, the issuer of the metadata is the server', async () => {
  await using world = await startWorld()
  const { server } = world
  server.routes.delete(resourcePath)
  server.routes.set('/mcp', bare)
  const metadata = { token_endpoint: `${server.origin}/token`, authorization_endpoint: `${server.origin}/authorize` }
  server.routes.set(serverPath, () => ({ body: { issuer: 'https://honest.example', ...metadata } }))
  await assert.rejects(call(agreeing(), server.url), unauthorized(/is not the metadata of/))
  server.routes.set(serverPath, () => ({ body: { issuer: `${server.origin}/`, ...metadata } }))
  await assert.rejects(call(agreeing(), server.url), unauthorized(/know the client beforehand/))
})

test('the server is told which revision asks for its metadata, and nobody else is', async () => {
  for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
    await using world = await startWorld()
    const { server, issuer } = world
    // Nobody answers there, but who asks is let in.
    await assert.rejects(connect(server.url, quick({ revision, authorization: agreeing() })))
    const asked = [...server.received, ...issuer.received].filter(({ path }) => path.includes('.well-known'))
    assert.deepEqual(
      asked.map(({ path, headers }) => [path, headers['mcp-protocol-version']]),
      [
        [resourcePath, revision],
        [serverPath, undefined],
      ],
    )
  }
})

test('so is a server of before 2025-06-18, which is its own authorization server', async () => {
  await using world = await startWorld()
  const { server } = world
  server.routes.delete(resourcePath)
  server.routes.set('/mcp', bare)
  await assert.rejects(connect(server.url, quick({ revision: '2025-03-26', authorization: agreeing() })))
  const asked = server.received.filter(({ path }) => path.includes('.well-known'))
  assert.ok(asked.length > 1)
  for (const { path, headers } of asked) assert.equal(headers['mcp-protocol-version'], '2025-03-26', path)
})
