import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { isCallFailed } from '../../../src/model/failure.ts'
import { oauth, pageRedirect } from '../../../src/oauth.ts'
import { agreeing, browser, call, startWorld, unauthorized, type FakeIssuer } from './support.ts'

const authorizations = (issuer: FakeIssuer): readonly URLSearchParams[] =>
  issuer.received.filter(({ path }) => path === '/authorize').map(({ query }) => query)

test('the request carries what it must, and the code is redeemed with the same', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  server.scope = 'read'
  const targets: unknown[] = []
  const grant = {
    type: 'authorization_code',
    open: (url: string, target: object) => (targets.push(target), browser(url)),
  } as const
  assert.equal(await call(agreeing({ grant }), server.url), 200)
  const [query] = authorizations(issuer)
  const [form] = issuer.asked()
  assert.equal(query?.get('response_type'), 'code')
  assert.equal(query?.get('code_challenge_method'), 'S256')
  const hash = createHash('sha256').update(form?.get('code_verifier') ?? '')
  assert.equal(query?.get('code_challenge'), hash.digest('base64url'))
  assert.match(query?.get('redirect_uri') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  assert.equal(form?.get('redirect_uri'), query?.get('redirect_uri'))
  assert.equal(query?.get('resource'), server.url)
  assert.equal(form?.get('resource'), server.url)
  assert.ok((query?.get('state') ?? '').length >= 32)
  assert.deepEqual(targets, [{ issuer: issuer.issuer, resource: server.url, scope: 'read' }])
  // No token before it is asked for, and the token in its header with every request.
  const [first, second] = server.received.filter(({ path }) => path === '/mcp')
  assert.equal(first?.headers.authorization, undefined)
  assert.match(second?.headers.authorization ?? '', /^Bearer access-/)
})

test('without PKCE by S256 nothing is begun', async () => {
  await using world = await startWorld()
  for (const code_challenge_methods_supported of [undefined, [], ['plain']]) {
    world.issuer.metadata = { code_challenge_methods_supported }
    await assert.rejects(call(agreeing(), world.server.url), unauthorized(/does not do PKCE/))
  }
  assert.ok(!world.issuer.paths().includes('/register'))
})

test('CVE-2025-6514: what is opened is https, or http on this machine', async () => {
  await using world = await startWorld()
  for (const authorization_endpoint of ['javascript:alert(1)', 'file:///x', 'http://example.com/', 'a:$(calc)', '-x']) {
    world.issuer.metadata = { authorization_endpoint }
    const grant = { type: 'authorization_code', open: () => assert.fail('opened') } as const
    await assert.rejects(call(agreeing({ grant }), world.server.url), unauthorized(/authorization endpoint/))
  }
})

const answers: readonly [what: string, named: boolean, iss: string | undefined, good: boolean][] = [
  ['that is the same', true, 'same', true],
  ['that is missing although it was promised', true, undefined, false],
  ['of another', true, 'https://evil.example', false],
  ['that is the same, and was not promised', false, 'same', true],
  ['of another, and was not promised', false, 'https://evil.example', false],
  ['that is missing, and was not promised', false, undefined, true],
  ['with a slash at its end', true, 'same/', false],
  ['in capitals', true, 'SAME', false],
  ['that is empty', false, '', false],
]
for (const [what, named, iss, good] of answers)
  test(`an issuer in the answer ${what} is ${good ? 'taken' : 'refused, and nothing of the answer used or shown'}`, async () => {
    await using world = await startWorld()
    const { server, issuer } = world
    issuer.metadata = { authorization_response_iss_parameter_supported: named }
    issuer.respond = (answer) => {
      answer.delete('iss')
      const text = iss?.replace('same', issuer.issuer).replace('SAME', issuer.issuer.toUpperCase())
      if (text !== undefined) answer.set('iss', text)
      if (good) return
      answer.set('error', 'sneaky')
      answer.set('error_description', 'sneaky')
    }
    if (good) return assert.equal(await call(agreeing(), server.url), 200)
    await assert.rejects(call(agreeing(), server.url), (error) => {
      assert.ok(isCallFailed(error) && error.kind === 'Unauthorized')
      assert.match(error.message, /is not from/)
      assert.ok(!JSON.stringify({ ...error, message: error.message }).includes('sneaky'))
      return true
    })
    assert.equal(issuer.asked().length, 0)
  })

test('what the authorization server answers is told', async () => {
  await using world = await startWorld()
  world.issuer.respond = (answer) => {
    answer.delete('code')
    answer.set('error', 'access_denied\n\u001b[31m')
    answer.set('error_description', 'the user declined')
  }
  await assert.rejects(call(agreeing(), world.server.url), (error) => {
    assert.ok(isCallFailed(error))
    assert.match(error.message, /answers access_denied \[31m$/)
    assert.equal(error.data?.error_description, 'the user declined')
    return true
  })
  world.issuer.respond = (answer) => answer.append('code', 'second')
  await assert.rejects(call(agreeing(), world.server.url), unauthorized(/more than one code/))
  world.issuer.respond = (answer) => answer.delete('code')
  await assert.rejects(call(agreeing(), world.server.url), unauthorized(/has no code/))
})

test('an answer with another state is passed over: the wait goes on', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const states: string[] = []
  const open = async (url: string): Promise<void> => {
    const { searchParams } = new URL(url)
    const forged = await fetch(`${searchParams.get('redirect_uri')}?code=evil&state=guess&iss=${issuer.issuer}`)
    states.push(String(forged.status))
    await browser(url)
  }
  assert.equal(await call(agreeing({ grant: { type: 'authorization_code', open } }), server.url), 200)
  assert.deepEqual(states, ['400'])
  assert.equal(issuer.asked().length, 1)
})

test('the wait has an end, and what opening throws is told', async () => {
  await using world = await startWorld()
  const waiting = { type: 'authorization_code', open: () => undefined, timeoutMs: 30 } as const
  await assert.rejects(call(agreeing({ grant: waiting }), world.server.url), unauthorized(/Nobody agreed in time/))
  const failing = {
    type: 'authorization_code',
    open: () => {
      throw new Error('no browser')
    },
  } as const
  await assert.rejects(call(agreeing({ grant: failing }), world.server.url), unauthorized(/no browser/))
})

test('a page of the application hands over what it receives, once', async () => {
  await using world = await startWorld()
  const redirect = pageRedirect('https://app.example/callback')
  const open = async (url: string): Promise<void> => {
    const back = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? ''
    assert.equal(redirect.received(back.replace('state=', 'state=x')), false)
    assert.equal(redirect.received(back), true)
    assert.equal(redirect.received(back), false, 'a state counts once')
  }
  assert.equal(await call(agreeing({ grant: { type: 'authorization_code', open, redirect } }), world.server.url), 200)
  assert.equal(redirect.received('https://app.example/callback?state=unknown&code=x'), false)
  assert.equal(redirect.received('?'), false)
})

test('scopes: of the challenge, else of the metadata, else none; beside those that are always wanted', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const asked = async (always: readonly string[] = []): Promise<string | null | undefined> => {
    await call(agreeing({ scopes: always }), server.url)
    return authorizations(issuer).at(-1)?.get('scope')
  }
  assert.equal(await asked(), null)
  server.metadata = { scopes_supported: ['read', 'list'] }
  assert.equal(await asked(), 'read list')
  server.scope = 'write read'
  assert.equal(await asked(), 'write read')
  assert.equal(await asked(['mail']), 'mail write read')
})

test('offline_access is asked for where the authorization server has it, and never elsewhere', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  server.scope = 'read offline_access'
  await call(agreeing(), server.url)
  issuer.metadata = { scopes_supported: ['read', 'offline_access'] }
  server.scope = 'read'
  await call(agreeing(), server.url)
  await call(agreeing({ offline: false }), server.url)
  const seen = authorizations(issuer).map((query) => [query.get('scope'), query.get('prompt')])
  assert.deepEqual(seen, [
    ['read', null],
    ['read offline_access', 'consent'],
    ['read', null],
  ])
})

test('the token goes to its server alone', async () => {
  await using world = await startWorld()
  const authorization = agreeing()
  await call(authorization, world.server.url)
  for (const url of [
    world.issuer.issuer,
    'https://elsewhere.example/mcp',
    world.server.url.replace('127.0.0.1', 'localhost'),
  ]) {
    assert.deepEqual(await authorization.headers({ url, method: 'POST' }), {})
    const challenge = { url, method: 'POST', status: 401, header: () => 'Bearer' }
    assert.equal(await authorization.challenged(challenge), false)
  }
  const bound = oauth({ grant: { type: 'authorization_code', open: browser }, server: 'https://one.example/mcp' })
  assert.equal(
    await bound.challenged({ url: world.server.url, method: 'POST', status: 401, header: () => 'Bearer' }),
    false,
  )
})

test('users are told apart; those without a name share nothing', () => {
  const named = (user: string): string => agreeing({ user }).context
  assert.equal(named('a'), named('a'))
  assert.notEqual(named('a'), named('b'))
  assert.notEqual(agreeing().context, agreeing().context)
})
