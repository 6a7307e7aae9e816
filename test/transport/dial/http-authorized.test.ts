import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization, Challenge } from '../../../src/model/authorization.ts'
import { CallFailed } from '../../../src/model/failure.ts'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { createHttpSseLink } from '../../../src/transport/dial/http-sse.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { call, modernCall, peerOf, rpc, said, standIn } from '../serve/stand-in.ts'
import { Refusal } from '../../../src/model/refusal.ts'
import { error, event, respond, result, scripted, stream, type Script } from './scripted.ts'
import { failureOf, mirrored, recorder, talk, until } from './support.ts'

interface Wallet extends Authorization {
  token: string | undefined
  readonly challenges: Challenge[]
  readonly answers: string[]
}

/** Has no credentials until it is challenged. */
function wallet(challenged: (wallet: Wallet) => boolean | Promise<boolean>): Wallet {
  const made: Wallet = {
    context: 'ada',
    token: undefined,
    challenges: [],
    answers: [],
    async headers() {
      return made.token === undefined ? {} : { authorization: `Bearer ${made.token}` }
    },
    async challenged(challenge) {
      made.challenges.push(challenge)
      return challenged(made)
    },
    answered: ({ method }, header) => void made.answers.push(`${method} ${header('x-nonce')}`),
  }
  return made
}

/** Lets in who has the token `good`. */
const guarded: Script = ({ headers }, r) => {
  if (headers.authorization === 'Bearer good') respond(r, 200, result(1), { 'x-nonce': 'n' })
  else respond(r, 401, error(undefined), { 'www-authenticate': 'Bearer resource_metadata="https://x.example"' })
}

for (const [name, options] of Object.entries({
  node: {},
  fetch: { fetch: (url: URL, init: RequestInit) => fetch(url, init) },
})) {
  test(`${name}: a challenge is met, and the same request sent again`, async () => {
    await using server = await scripted(guarded)
    const authorization = wallet((one) => ((one.token = 'good'), true))
    const { ask, heard, link } = await server.talk({ ...options, authorization })
    assert.ok((await ask(rpc(1, 'ping'))).result)
    const [challenge] = authorization.challenges
    assert.deepEqual([challenge?.status, challenge?.method, challenge?.url], [401, 'POST', server.url.href])
    assert.match(challenge?.header('www-authenticate') ?? '', /resource_metadata/)
    assert.deepEqual(
      server.seen.map(({ body }) => body),
      [server.seen[0]?.body, server.seen[0]?.body],
    )
    await ask(rpc(1, 'ping'))
    assert.deepEqual(
      [server.seen.length, authorization.challenges.length, authorization.answers],
      [3, 1, ['POST n', 'POST n']],
    )
    assert.deepEqual(heard.losses, [])
    await link.close()
  })

  test(`${name}: a server that is never content is asked six times`, async () => {
    await using server = await scripted(guarded)
    const authorization = wallet((one) => ((one.token = 'bad'), true))
    const { send, heard, link } = await server.talk({ ...options, authorization })
    await send(rpc(1, 'ping'))
    await until(() => heard.losses.length > 0)
    const [{ failure } = {}] = heard.losses
    assert.deepEqual([failure?.kind, failure?.ran, failure?.status], ['Unauthorized', 'no', 401])
    assert.match(String(failure?.data?.['challenge']), /^Bearer/)
    assert.deepEqual([server.seen.length, authorization.challenges.length], [6, 5])
    await link.close()
  })

  test(`${name}: who gives up is told the refusal as it was`, async () => {
    await using server = await scripted(({ body }, r) => {
      if (body.includes('scope')) respond(r, 403, error(1), { 'www-authenticate': 'Bearer error="insufficient_scope"' })
      else if (body.includes('origin')) respond(r, 403, error(1))
      else respond(r, 401, { error: 'invalid_token', message: 'expired' })
    })
    const authorization = wallet(() => sleep(20).then(() => false))
    const { send, heard, link } = await server.talk({ ...options, authorization })
    await send(rpc(1, 'ping'))
    await send(rpc(2, 'scope'))
    await until(() => heard.losses.length === 2)
    assert.deepEqual(
      heard.losses.map(({ failure }) => [failure.kind, failure.status]),
      [
        ['Unauthorized', 401],
        ['Unauthorized', 403],
      ],
    )
    assert.match(heard.losses[0]?.failure.message ?? '', /invalid_token$/)
    await send(rpc(1, 'origin'))
    await until(() => heard.messages.length === 1)
    assert.deepEqual([heard.messages[0]?.received.status, authorization.challenges.length], [403, 2])
    await link.close()
  })

  test(`${name}: no credentials to be had`, async () => {
    await using server = await scripted(guarded)
    const why = new CallFailed('Unauthorized', { ran: 'no', message: 'the user said no' })
    const refusing = await server.talk({ ...options, authorization: wallet(() => Promise.reject(why)) })
    assert.equal(await failureOf(refusing.send(rpc(1, 'ping'))), why)
    const broken: Authorization = { ...wallet(() => true), headers: () => Promise.reject(new Error('no keychain')) }
    const failing = await server.talk({ ...options, authorization: broken })
    const failure = await failureOf(failing.send(rpc(1, 'ping')))
    assert.deepEqual(
      [failure.kind, failure.ran, (failure.cause as Error).message],
      ['Unauthorized', 'no', 'no keychain'],
    )
    await refusing.link.close()
    await failing.link.close()
  })

  test(`${name}: a request given up while it is challenged is not sent again`, async () => {
    await using server = await scripted(guarded)
    let settle = (_again: boolean): void => {}
    const authorization = wallet(() => new Promise((resolve) => (settle = resolve)))
    const { send, heard, link } = await server.talk({ ...options, authorization })
    const aborting = new AbortController()
    const sent = send(rpc(1, 'ping'), { signal: aborting.signal })
    await until(() => authorization.challenges.length > 0)
    aborting.abort()
    await sent
    settle(true)
    await sleep(20)
    assert.deepEqual([server.seen.length, heard.losses], [1, []])
    await link.close()
  })
}

test('credentials stay on the origin', async () => {
  await using other = await scripted((_, r) => respond(r, 200, result(1)))
  await using server = await scripted((_, r) => respond(r, 307, '', { location: other.url.href }))
  const authorization = wallet(() => false)
  authorization.token = 'secret'
  const { send, heard, link } = await server.talk({ authorization, headers: { 'X-Api-Key': 'secret' } })
  await send(rpc(1, 'ping'))
  await until(() => heard.losses.length > 0)
  assert.match(heard.losses[0]?.failure.message ?? '', /points to .* not followed/)
  assert.deepEqual([other.seen.length, server.seen[0]?.headers['x-api-key']], [0, 'secret'])
  await link.close()
})

test('with our own server: sessions, streams and HTTP+SSE, each request with its credentials', async () => {
  const server = await serveHttp(peerOf(standIn()), {
    authenticate: ({ header }) =>
      header('authorization') === 'Bearer good' ? { id: 'ada', scopes: new Set() } : new Refusal('Unauthenticated'),
  })
  const authorization = wallet((one) => ((one.token = 'good'), true))
  const legacy = await talk(createHttpLink(new URL(server.url), { authorization }))
  await legacy.agree('2025-11-25')
  assert.equal(said(await legacy.ask(call(1, 'progress', { steps: 2 }))), 'done')
  await legacy.link.close()
  const modern = await talk(createHttpLink(new URL(server.url), { authorization }))
  const echo = modernCall(1, 'echo', { text: 'hi' })
  assert.equal(said(await modern.ask(echo, { headers: mirrored(echo) })), 'hi')
  await modern.link.close()
  authorization.token = undefined
  const oldest = await talk(createHttpSseLink(new URL('/sse', server.url), { authorization }))
  await oldest.agree('2024-11-05')
  assert.equal(said(await oldest.ask(call(1, 'echo', { text: 'hi' }))), 'hi')
  await oldest.link.close()
  const stranger = await failureOf(createHttpSseLink(new URL('/sse', server.url)).open(recorder()))
  assert.deepEqual([stranger.kind, stranger.ran, stranger.status], ['Unauthorized', 'no', 401])
  await server.close({ graceMs: 100 })
})

test('an event stream behind a challenge is read once the challenge is met', async () => {
  await using server = await scripted(({ headers }, r) =>
    headers.authorization === undefined ? respond(r, 401) : stream(r, event(result(1))),
  )
  const { ask, link } = await server.talk({ authorization: wallet((one) => ((one.token = 'good'), true)) })
  assert.ok((await ask(rpc(1, 'ping'))).result)
  await link.close()
})
