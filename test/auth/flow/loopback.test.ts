import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { loopbackRedirect } from '../../../src/oauth.ts'

const never = new AbortController().signal

test('one answer with the right state is taken, and all else passed over', async () => {
  const listening = await loopbackRedirect().listen([])
  assert.match(listening.uri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  const answer = listening.answer('right', never)
  const { origin } = new URL(listening.uri)
  const status = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status
  assert.equal(await status(`${origin}/`), 404)
  assert.equal(await status(`${origin}/callback/x?state=right`), 404)
  assert.equal(await status(`${listening.uri}?state=right`, { method: 'POST' }), 404)
  assert.equal(await status(listening.uri), 400)
  assert.equal(await status(`${listening.uri}?state=wrong&code=x`), 400)
  const good = await fetch(`${listening.uri}?state=right&code=<b>x`)
  assert.equal(good.status, 200)
  assert.equal(good.headers.get('cache-control'), 'no-store')
  assert.match(good.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  assert.ok(!(await good.text()).includes('<b>'))
  assert.equal((await answer).get('code'), '<b>x')
  assert.equal(await status(`${listening.uri}?state=right&code=y`), 400)
  await listening.close()
  await assert.rejects(fetch(listening.uri))
})

test('DNS rebinding: another name for this machine is refused', async () => {
  const listening = await loopbackRedirect().listen([])
  const answer = listening.answer('right', AbortSignal.timeout(300))
  const status = await new Promise((resolve) =>
    request(`${listening.uri}?state=right&code=x`, { headers: { host: 'evil.example' } }, (response) =>
      resolve(response.resume().statusCode),
    ).end(),
  )
  assert.equal(status, 403)
  await assert.rejects(answer, { name: 'TimeoutError' })
  await listening.close()
})

test('a port that was registered before is taken again where it is free', async () => {
  const redirect = loopbackRedirect({ path: '/back', host: 'localhost' })
  const first = await redirect.listen([])
  const second = await redirect.listen([first.uri])
  assert.notEqual(second.uri, first.uri)
  await first.close()
  const third = await redirect.listen(['https://app.example/back', 'nonsense', first.uri])
  assert.equal(third.uri, first.uri)
  const fixed = loopbackRedirect({ path: '/back', port: Number(new URL(third.uri).port) })
  await assert.rejects(fixed.listen([]), { code: 'EADDRINUSE' })
  await second.close()
  await third.close()
})
