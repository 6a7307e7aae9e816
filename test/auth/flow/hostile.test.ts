// Defends: whatever the two servers answer, a request ends, with an answer or a CallFailed that says why.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCallFailed } from '../../../src/model/failure.ts'
import { agreeing, call, startWorld, type Answer, type Route } from './support.ts'

const values: readonly unknown[] = [
  ...[undefined, null, -1, 1e300, '', 'https://169.254.169.254/', 'javascript:x', 'https://[::1', 'a\r\nb'],
  ...[[], [null], ['S256', 'none', 'https://10.0.0.1'], {}],
]
const places: Readonly<Record<string, readonly string[]>> = {
  '/.well-known/oauth-protected-resource/mcp': ['resource', 'authorization_servers', 'scopes_supported'],
  '/.well-known/oauth-authorization-server': [
    ...['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'scopes_supported'],
    ...['code_challenge_methods_supported', 'token_endpoint_auth_methods_supported', 'grant_types_supported'],
    ...['client_id_metadata_document_supported', 'dpop_signing_alg_values_supported'],
  ],
  '/register': [
    'client_id',
    'client_secret',
    'client_secret_expires_at',
    'token_endpoint_auth_method',
    'redirect_uris',
  ],
  '/token': ['access_token', 'token_type', 'refresh_token', 'expires_in', 'scope', 'id_token', 'issued_token_type'],
}

for (const [path, fields] of Object.entries(places))
  for (const field of fields)
    test(`${path} says anything as ${field}`, async () => {
      await using world = await startWorld()
      const site = path.includes('protected') ? world.server : world.issuer
      const honest = site.routes.get(path) ?? (() => 404)
      for (const value of values) {
        site.routes.set(
          path,
          replaced(honest, (body) => ({ ...body, [field]: value })),
        )
        await ends(world.server.url, JSON.stringify(value) ?? 'nothing')
      }
    })

const bodies: readonly Answer[] = [
  ...[200, 204, 301, 400, 401, 404, 418, 500].map((status): Answer => ({ status, body: '' })),
  ...['', 'null', '[]', '"x"', '7', '{', '['.repeat(50_000)].map((body): Answer => ({ body })),
  { status: 401, headers: { 'www-authenticate': 'Bearer error="use_dpop_nonce"', 'dpop-nonce': 'x' }, body: {} },
  { status: 400, body: { error: 'use_dpop_nonce' } },
  { status: 400, body: { error: { toString: 7 } } },
]
for (const path of Object.keys(places))
  test(`${path} answers anything`, async () => {
    await using world = await startWorld()
    const site = path.includes('protected') ? world.server : world.issuer
    for (const answer of bodies) {
      site.routes.set(path, () => answer)
      await ends(world.server.url, JSON.stringify(answer).slice(0, 100))
    }
  })

test('the MCP server challenges by anything', async () => {
  await using world = await startWorld()
  const { server } = world
  for (const header of [
    '',
    'Bearer resource_metadata=',
    'Bearer scope="',
    'DPoP',
    'Bearer error="use_dpop_nonce"',
    '=,=',
    'x'.repeat(8000),
  ])
    for (const status of [401, 403]) {
      server.routes.set('/mcp', () => ({ status, headers: { 'www-authenticate': header, 'dpop-nonce': 'n' } }))
      await ends(server.url, `${status} ${header.slice(0, 40)}`)
    }
})

async function ends(url: string, what: string): Promise<void> {
  try {
    assert.equal(typeof (await call(agreeing(), url)), 'number')
  } catch (error) {
    assert.ok(isCallFailed(error), `${what}: ${String(error)}`)
    assert.ok(error.kind === 'Unauthorized' || error.kind === 'Unreachable', what)
    assert.ok(error.message !== '' && error.message.length < 600, what)
  }
}

function replaced(honest: Route, change: (body: object) => object): Route {
  return async (request) => {
    const answer = await honest(request)
    return typeof answer === 'number' ? answer : { ...answer, body: change(answer.body as object) }
  }
}
