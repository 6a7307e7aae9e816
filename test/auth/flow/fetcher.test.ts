import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createFetcher } from '../../../src/auth/flow/fetcher.ts'
import { startSite, unauthorized } from './support.ts'

const local = createFetcher({}, true)
const remote = createFetcher({}, false)

test('https only, but for this machine where the server is on it', async () => {
  await using site = await startSite()
  site.routes.set('/', () => ({ body: 'here' }))
  assert.equal(await (await local.fetch(`${site.origin}/`)).text(), 'here')
  for (const url of ['http://example.com/', 'http://10.0.0.1/', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'data:,x'])
    await assert.rejects(local.fetch(url), unauthorized(/must begin with https:/), url)
  for (const url of [site.origin, 'http://localhost:1/', 'http://[::1]/'])
    await assert.rejects(remote.fetch(url), unauthorized(/must begin with https:/), url)
  await assert.rejects(local.fetch('https://user:secret@example.com/'), unauthorized(/credentials: https:\/\/example/))
  await assert.rejects(local.fetch('nonsense'), unauthorized(/no URL/))
})

test('no address that is not public is asked, whatever name it has', async () => {
  for (const url of [
    'https://127.0.0.1/',
    'https://169.254.169.254/',
    'https://[::ffff:10.0.0.1]/',
    'https://2130706433/',
  ])
    await assert.rejects(remote.fetch(url), unauthorized(/may not be asked/), url)
  const resolving = (...found: string[]): ReturnType<typeof remote.fetch> =>
    createFetcher({ resolve: async () => found }, false).fetch('https://innocent.example/')
  await assert.rejects(resolving('10.0.0.1'), unauthorized(/10\.0\.0\.1, which may not be asked/))
  // One bad address among good ones is enough: which of them is taken is not ours to say.
  await assert.rejects(resolving('8.8.8.8', '127.0.0.1'), unauthorized(/127\.0\.0\.1/))
  await assert.rejects(resolving(), { kind: 'Unreachable' })
})

test('plain http needs a host that is this machine and resolves to it', async () => {
  const fetcher = createFetcher({ resolve: async () => ['8.8.8.8'] }, true)
  await assert.rejects(fetcher.fetch('http://app.localhost/'), unauthorized(/may not be asked/))
})

test('private networks are asked where that is allowed', async () => {
  const fetcher = createFetcher({ privateNetworks: true, timeoutMs: 50 }, false)
  await assert.rejects(fetcher.fetch('https://192.0.2.1/'), { kind: 'Unreachable' })
})

test('the connection goes to the address that was checked, and the name is resolved once', async () => {
  await using site = await startSite()
  site.routes.set('/', ({ headers }) => ({ body: headers.host ?? '' }))
  let resolved = 0
  const resolve = async (): Promise<readonly string[]> => (resolved++ === 0 ? ['127.0.0.1'] : ['10.0.0.1'])
  const fetcher = createFetcher({ resolve }, true)
  const url = site.origin.replace('127.0.0.1', 'rebound.localhost')
  assert.equal(await (await fetcher.fetch(`${url}/`)).text(), new URL(url).host)
  assert.equal(resolved, 1)
})

test('redirects are followed within an origin, for GET, three times', async () => {
  await using site = await startSite()
  const to = (location: string) => () => ({ status: 302, headers: { location } })
  for (const at of [1, 2, 3]) site.routes.set(`/${at}`, to(`/${at + 1}`))
  site.routes.set('/4', () => ({ body: 'end' }))
  site.routes.set('/0', to('1'))
  site.routes.set('/away', to('https://example.com/'))
  site.routes.set('/port', to('http://127.0.0.1:1/'))
  assert.equal(await (await local.fetch(`${site.origin}/1`)).text(), 'end')
  await assert.rejects(local.fetch(`${site.origin}/0`), unauthorized(/too often/))
  await assert.rejects(local.fetch(`${site.origin}/away`), unauthorized(/another origin/))
  await assert.rejects(local.fetch(`${site.origin}/port`), unauthorized(/another origin/))
  await assert.rejects(local.fetch(`${site.origin}/1`, { method: 'POST' }), unauthorized(/not followed for POST/))
})

test('an answer has a size', async () => {
  await using site = await startSite()
  site.routes.set('/', () => ({ body: 'x'.repeat(2000) }))
  const fetcher = createFetcher({ maxBytes: 1999 }, true)
  await assert.rejects(fetcher.fetch(`${site.origin}/`), unauthorized(/more than 1999 bytes/))
})

test('an answer has a time, also one that comes drop by drop', async () => {
  const drops = createServer((socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n\r\n')
    const drip = setInterval(() => socket.write('x'), 10)
    socket.on('close', () => clearInterval(drip))
  })
  await new Promise<void>((resolve) => drops.listen(0, '127.0.0.1', resolve))
  const fetcher = createFetcher({ timeoutMs: 100 }, true)
  const url = `http://127.0.0.1:${(drops.address() as AddressInfo).port}/`
  await assert.rejects(fetcher.fetch(url), { kind: 'Unreachable', message: /no answer in time/ })
  await new Promise((resolve) => drops.close(resolve))
})

test('what replaces the sending is asked only for what the guard lets through', async () => {
  const asked: string[] = []
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url)
    return new Response('proxied')
  }
  const fetcher = createFetcher({ fetch }, false)
  assert.equal(await (await fetcher.fetch('https://example.com/')).text(), 'proxied')
  await assert.rejects(fetcher.fetch('http://127.0.0.1/'), unauthorized(/https:/))
  assert.deepEqual(asked, ['https://example.com/'])
})
