// Defends: whoever gives up connecting is let go at once, and nothing of it is left behind: no request, no process, no
// question to a user. A user who is asked for credentials takes a user's time.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Authorization, type ClientOptions, type TargetLike } from '../../src/client.ts'
import { Refusal, serveHttp } from '../../src/index.ts'
import { agreeing, browser, startWorld } from '../auth/flow/support.ts'
import { until } from '../transport/dial/support.ts'
import { everything } from './everything.ts'
import { quick, revisions } from './support.ts'

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Connects and gives up after a while, which has to be heard at once. */
async function givesUp(where: TargetLike, options: ClientOptions = {}, afterMs = 60): Promise<void> {
  const stop = new AbortController()
  const reason = new Error('enough')
  const since = performance.now()
  setTimeout(() => stop.abort(reason), afterMs)
  await assert.rejects(connect(where, quick({ ...options, signal: stop.signal })), {
    name: 'CallFailed',
    kind: 'Cancelled',
    ran: 'no',
    cause: reason,
  })
  assert.ok(performance.now() - since < afterMs + 1_500)
}

test('a server that says nothing is left', async () => {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.resume()
  })
  const port = await listening(server)
  await givesUp(`tcp:127.0.0.1:${port}`)
  await until(() => sockets.size === 0)
  server.close()
})

test('so is one over HTTP, whatever it is at', async () => {
  const scripts: RequestListener[] = [
    () => {},
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n'),
    (request, response) => void (request.method === 'POST' ? response.writeHead(404).end() : undefined),
  ]
  for (const script of scripts) {
    let open = 0
    const server = createHttpServer((request, response) => {
      open += 1
      response.on('close', () => (open -= 1))
      script(request, response)
    })
    const port = await listening(server)
    await givesUp(`http://127.0.0.1:${port}/mcp`)
    await until(() => open === 0)
    server.closeAllConnections()
    server.close()
  }
})

test('a process that was started for it is ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-signal-'))
  const file = join(folder, 'pid')
  const program = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`
  await givesUp({ command: process.execPath, args: ['-e', program], graceMs: 20 }, { silenceMs: 60_000 }, 700)
  const pid = Number(readFileSync(file, 'utf8'))
  await until(() => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  })
  rmSync(folder, { recursive: true })
})

test('who gave up before sends nothing', async () => {
  let asked = 0
  const server = createSocketServer(() => (asked += 1))
  const port = await listening(server)
  const connecting = connect(`tcp:127.0.0.1:${port}`, quick({ signal: AbortSignal.abort() }))
  await assert.rejects(connecting, { kind: 'Cancelled', ran: 'no' })
  await delay(30)
  assert.equal(asked, 0)
  server.close()
})

test('once connected, the signal means nothing more', async () => {
  for (const revision of revisions) {
    const stop = new AbortController()
    await using client = await connect(everything(), quick({ revision, signal: stop.signal }))
    stop.abort()
    assert.equal((await client.call('add', { a: 1, b: 2 })).isError, false)
  }
})

test('a user who is asked is asked no more: nobody waits for the browser', async () => {
  await using world = await startWorld()
  const redirects: string[] = []
  const authorization = agreeing({
    grant: {
      type: 'authorization_code',
      open: (url) => void redirects.push(new URL(url).searchParams.get('redirect_uri') ?? ''),
    },
  })
  await givesUp(world.server.url, { authorization }, 400)
  assert.equal(redirects.length, 1)
  await until(() =>
    fetch(redirects[0] ?? '').then(
      () => false,
      () => true,
    ),
  )
})

/** A server that takes who was asked for a while. */
async function asking(ms: number, options: ClientOptions) {
  const server = await serveHttp(everything(), {
    port: 0,
    authenticate: ({ header }) =>
      header('authorization') === 'Bearer good'
        ? { id: 'ada', scopes: new Set<string>() }
        : new Refusal('Unauthenticated'),
  })
  let token: string | undefined
  const authorization: Authorization = {
    context: 'ada',
    headers: async () => (token === undefined ? {} : { authorization: `Bearer ${token}` }),
    async challenged() {
      await delay(ms)
      token = 'good'
      return true
    },
  }
  const client = await connect(server.url, quick({ authorization, ...options })).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  return {
    client,
    forget: () => (token = undefined),
    async close() {
      await client.close()
      await server.close()
    },
  }
}

test('the time that a user takes is none that the server took', async () => {
  for (const revision of revisions.slice(1)) {
    const { client, forget, close } = await asking(500, { connectTimeoutMs: 300, timeoutMs: 300, revision })
    forget()
    assert.equal((await client.call('add', { a: 1, b: 2 })).isError, false)
    await close()
  }
})

test('but no call takes longer than it may in all', async () => {
  const { client, forget, close } = await asking(500, {})
  forget()
  await assert.rejects(client.call('add', { a: 1, b: 2 }, { maxTimeoutMs: 100 }), { kind: 'TimedOut' })
  await close()
})

test('the user goes on agreeing for those who still wait', async () => {
  await using world = await startWorld()
  const authorization = agreeing({
    grant: {
      type: 'authorization_code',
      open: async (url) => {
        await delay(300)
        await browser(url)
      },
    },
  })
  const challenge = { url: world.server.url, method: 'POST', status: 401, header: () => undefined }
  const stop = new AbortController()
  const leaving = authorization.challenged({ ...challenge, signal: stop.signal })
  const staying = authorization.challenged({ ...challenge, signal: new AbortController().signal })
  setTimeout(() => stop.abort(), 100)
  await assert.rejects(leaving)
  assert.equal(await staying, true)
})
