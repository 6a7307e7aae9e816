// maxOpen: an endpoint that is full takes in nothing new, but what ends something that runs: answers and notifications.
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, serveHttp, tool } from '../../src/index.ts'
import { headersFor } from './doors.ts'
import { call, modern, modernCall, text } from './requests.ts'

/** An endpoint with room for so much at once, and a tool that asks, which the rest of the room can be filled with. */
async function open(t: TestContext, maxOpen: number) {
  let aborted = 0
  const server = createServer({
    name: 'full',
    version: '1',
    keys: [new Uint8Array(32).fill(3)],
    tools: [
      tool('echo', {}, () => 'echo'),
      tool('ask', {}, async (_, ctx) => `answered ${JSON.stringify(await ctx.roots())}`),
      tool('wait', {}, async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        aborted += 1
        return 'over'
      }),
    ],
  })
  const http = await serveHttp(server, { caps: { maxOpen } })
  t.after(() => http.close({ graceMs: 0 }))
  return {
    aborted: () => aborted,
    /** Sends, and gathers what comes back for as long as it comes. */
    async send(
      body: object | undefined,
      session?: string,
      path = '/mcp',
      method = body === undefined ? 'GET' : 'POST',
    ): Promise<Said> {
      const said = body === undefined ? '' : text(body)
      const headers =
        body === undefined
          ? { accept: 'text/event-stream', ...(session !== undefined && { 'mcp-session-id': session }) }
          : headersFor(said, session)
      return new Promise((resolve, reject) => {
        const sending = httpRequest({ port: http.port, host: '127.0.0.1', path, method, headers, agent: false })
        t.after(() => sending.destroy())
        sending.on('error', reject).end(said)
        sending.on('response', (response) => {
          let heard = ''
          response.setEncoding('utf8').on('data', (part: string) => (heard += part))
          response.on('error', () => {})
          const session = response.headers['mcp-session-id']?.toString() ?? ''
          resolve({ status: response.statusCode ?? 0, session, heard: () => heard })
        })
      })
    },
  }
}

interface Said {
  readonly status: number
  readonly session: string
  heard(): string
}

const initialize = (protocolVersion: string): object => ({
  jsonrpc: '2.0',
  id: 'i',
  method: 'initialize',
  params: { protocolVersion, capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } },
})
const cancelled = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})
const answered = (id: string): object => ({ jsonrpc: '2.0', id, result: { roots: [] } })
const listening = modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } })

/** What is asked on a stream. */
async function questionOn({ heard }: Said): Promise<string> {
  await until(() => heard().includes('roots/list'))
  const [, id] = /"id":"([\w-]+)","method":"roots\/list"/.exec(heard()) ?? []
  return id ?? assert.fail(heard())
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await holds()) return
    await sleep(5)
  }
  throw new Error(`waited in vain for ${holds.toString()}`)
}

for (const revision of ['2025-03-26', '2025-11-25']) {
  test(`${revision}: maxOpen: the answer that a call waits for is taken in although all is full, and a request is not`, async (t) => {
    const { send } = await open(t, 2)
    const { session } = await send(initialize(revision))
    const asking = await send(call(1, 'ask'), session)
    const question = await questionOn(asking)
    const listener = await send(listening)
    assert.equal(listener.status, 200)
    for (const [body, of] of [
      [call(2, 'echo'), session],
      [modernCall(2, 'echo'), undefined],
      [initialize(revision), undefined],
    ] as const) {
      const refused = await send(body, of)
      assert.equal(refused.status, 503)
      await until(() => /"error"/.test(refused.heard()))
    }
    assert.equal((await send(undefined, session)).status, 503)
    assert.equal((await send(answered(question), session)).status, 202)
    await until(() => asking.heard().includes('"text":"answered []"'))
    assert.equal((await send(call(3, 'echo'), session)).status, 200)
  })

  test(`${revision}: maxOpen: a call can be cancelled although all is full`, async (t) => {
    const { send, aborted } = await open(t, 2)
    const { session } = await send(initialize(revision))
    void send(call(1, 'wait'), session)
    void send(listening)
    await until(async () => (await send(call(2, 'echo'), session)).status === 503)
    assert.equal((await send(cancelled(1), session)).status, 202)
    await until(() => aborted() === 1)
    await until(async () => (await send(call(3, 'echo'), session)).status === 200)
  })
}

test('maxOpen: a session that is full takes its stream anew, and can be ended', async (t) => {
  const { send } = await open(t, 2)
  const { session } = await send(initialize('2025-11-25'))
  const { session: other } = await send(initialize('2025-11-25'))
  assert.equal((await send(undefined, session)).status, 200)
  assert.equal((await send(listening)).status, 200)
  assert.equal((await send(undefined, other)).status, 503)
  assert.equal((await send(undefined, session)).status, 200)
  assert.equal((await send(undefined, other)).status, 503)
  assert.equal((await send(undefined, session, '/mcp', 'DELETE')).status, 204)
  await until(async () => (await send(undefined, other)).status === 200)
})

test('maxOpen: of a batch the answers are taken in although all is full, and the requests are refused', async (t) => {
  const { send } = await open(t, 2)
  const { session } = await send(initialize('2025-03-26'))
  const batched = await send([call(0, 'echo')], session)
  await until(() => batched.heard().includes('"text":"echo"'))
  const asking = await send(call(1, 'ask'), session)
  const question = await questionOn(asking)
  const second = await send(call(2, 'ask'), session)
  const other = await questionOn(second)
  const mixed = await send([call(3, 'echo'), answered(question)], session)
  await until(() => mixed.heard().includes('too much to do'))
  assert.match(mixed.heard(), /"id":3/)
  await until(() => asking.heard().includes('"text":"answered []"'))
  void send(listening)
  await until(async () => (await send(call(4, 'echo'), session)).status === 503)
  assert.equal((await send([answered(other)], session)).status, 202)
  await until(() => second.heard().includes('"text":"answered []"'))
})

test('http+sse: maxOpen: answers and cancellations are taken in although all is full, and a request is refused', async (t) => {
  const { send, aborted } = await open(t, 2)
  const stream = await send(undefined, undefined, '/sse')
  await until(() => stream.heard().includes('data: /sse'))
  const path = /data: (\S+)/.exec(stream.heard())?.[1]
  assert.equal((await send(initialize('2024-11-05'), undefined, path)).status, 202)
  await send(call(1, 'ask'), undefined, path)
  const question = await questionOn(stream)
  await send(call(2, 'wait'), undefined, path)
  assert.equal((await send(listening)).status, 200)
  assert.equal((await send(call(3, 'echo'), undefined, path)).status, 202)
  await until(() => /"id":3,"error"/.test(stream.heard()))
  assert.equal((await send(cancelled(2), undefined, path)).status, 202)
  await until(() => aborted() === 1)
  assert.equal((await send(answered(question), undefined, path)).status, 202)
  await until(() => stream.heard().includes('"text":"answered []"'))
})
