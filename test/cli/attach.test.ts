import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { createServer as listenOn, type Server as NetServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readAddress } from '../../src/cli/address.ts'
import { attachCommand } from '../../src/cli/attach-command.ts'
import { createServer, tool } from '../../src/index.ts'
import { serveSocket } from '../../src/socket.ts'

const shop = createServer({
  name: 'shop',
  version: '1',
  tools: [
    tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text }) => String(text)),
    tool('steps', {}, async (_args, ctx) => {
      for (let step = 1; step <= 8; step++) {
        await sleep(100)
        ctx.progress(step)
      }
      return 'walked'
    }),
    tool('slow', {}, async (_args, ctx) => {
      await sleep(5_000, undefined, { signal: ctx.signal }).catch(() => {})
      return 'late'
    }),
  ],
})

interface Answer {
  readonly id?: number | null
  readonly result?: {
    readonly serverInfo?: { readonly name: string }
    readonly content?: readonly { readonly text: string }[]
  }
  readonly error?: { readonly code: number; readonly message: string }
}

/** A client on stdio that is joined to `address`. */
function attached(t: TestContext, address: string, ...options: string[]) {
  const input = new PassThrough()
  const output = new PassThrough()
  const said: string[] = []
  const done = attachCommand([address, ...options], { input, output, out: () => {}, err: (line) => said.push(line) })
  t.after(() => input.end())
  const heard: Answer[] = []
  let rest = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    heard.push(...lines.map((line) => JSON.parse(line) as Answer))
  })
  return {
    done,
    said,
    heard,
    end: () => input.end(),
    send: (message: object) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    async answerTo(id: number, ms = 4_000): Promise<Answer> {
      for (const until = Date.now() + ms; Date.now() < until; await sleep(5)) {
        const found = heard.find((message) => message.id === id && !('method' in message))
        if (found) return found
      }
      throw new Error(`no answer to ${id}: ${JSON.stringify(heard)}`)
    },
  }
}

const initialize = (id: number, protocolVersion = '2025-06-18') => ({
  id,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})
const call = (id: number, name: string, args: object = {}, meta: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
})

/** A far side that does what a test tells it to. */
async function farSide(
  t: TestContext,
  onConnection: (socket: Socket) => void,
): Promise<{ address: string; server: NetServer }> {
  const sockets = new Set<Socket>()
  const server = listenOn((socket) => {
    sockets.add(socket.on('error', () => {}))
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return { address: `tcp:127.0.0.1:${port}`, server }
}

test('a line leaves nothing behind on the connection', async (t) => {
  const warnings: string[] = []
  const onWarning = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const server = await serveSocket(shop)
  t.after(() => server.close())
  const client = attached(t, `tcp:${server.address}`)
  client.send(initialize(0))
  for (let id = 1; id <= 20; id++) client.send(call(id, 'echo', { text: 'x' }))
  assert.ok((await client.answerTo(20)).result)
  assert.deepEqual(warnings, [])
})

test(
  'a client on stdio reaches a running application over a Unix socket and over TCP',
  { skip: process.platform === 'win32' && 'Unix sockets' },
  async (t) => {
    const path = join(await mkdtemp(join(tmpdir(), 'attach-')), 'shop.sock')
    const unix = await serveSocket(shop, { path })
    const tcp = await serveSocket(shop)
    t.after(() => Promise.all([unix.close(), tcp.close()]))
    for (const address of [path, `tcp:${tcp.address}`]) {
      const client = attached(t, address)
      client.send(initialize(1))
      assert.equal((await client.answerTo(1)).result?.serverInfo?.name, 'shop')
      client.send(call(2, 'echo', { text: 'grüße' }))
      assert.equal((await client.answerTo(2)).result?.content?.[0]?.text, 'grüße')
      client.end()
      assert.equal(await client.done, 0)
    }
  },
)

test('a slow application is answered for, once: a late answer is dropped and the call is cancelled', async (t) => {
  const told: string[] = []
  const { address } = await farSide(t, (socket) => {
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      told.push(chunk)
      if (chunk.includes('"id":7')) setTimeout(() => socket.write('{"jsonrpc":"2.0","id":7,"result":{}}\n'), 400)
      if (chunk.includes('"id":8')) socket.write('{"jsonrpc":"2.0","id":8,"result":{}}\n')
    })
  })
  const client = attached(t, address, '--timeout', '0.2')
  client.send(call(7, 'anything'))
  assert.deepEqual((await client.answerTo(7)).error, {
    code: -32603,
    message: 'The application did not answer in time.',
  })
  await sleep(500)
  client.send(call(8, 'anything'))
  assert.ok((await client.answerTo(8)).result)
  assert.equal(client.heard.filter(({ id }) => id === 7).length, 1)
  assert.match(told.join(''), /notifications\/cancelled.*"requestId":7/)
})

test('progress shows that the application is at work', async (t) => {
  const tcp = await serveSocket(shop)
  t.after(() => tcp.close())
  const client = attached(t, `tcp:${tcp.address}`, '--timeout', '0.4')
  client.send(initialize(1))
  await client.answerTo(1)
  client.send(call(2, 'steps', {}, { progressToken: 'p' }))
  assert.equal((await client.answerTo(2)).result?.content?.[0]?.text, 'walked')
})

test('an application that goes away leaves no request unanswered, and is found again when it is back', async (t) => {
  let tcp = await serveSocket(shop, { graceMs: 0 })
  const { port = 0 } = tcp
  t.after(() => tcp.close())
  const client = attached(t, `tcp:127.0.0.1:${port}`)
  client.send(initialize(1))
  await client.answerTo(1)
  const { address } = await farSide(t, (socket) => socket.once('data', () => socket.destroy()))
  const lost = attached(t, address)
  lost.send(call(1, 'slow'))
  assert.equal((await lost.answerTo(1)).error?.message, 'The application cannot be reached.')

  await tcp.close()
  client.send(call(2, 'echo', { text: 'x' }))
  assert.equal((await client.answerTo(2)).error?.message, 'The application cannot be reached.')
  tcp = await serveSocket(shop, { port })
  client.send(initialize(3))
  assert.equal((await client.answerTo(3)).result?.serverInfo?.name, 'shop')
})

test('an application that was never there is told as an error to each request, and in a line on stderr', async (t) => {
  const client = attached(t, join(tmpdir(), 'no-such-socket.sock'))
  client.send(initialize(1))
  client.send(call(2, 'echo'))
  for (const id of [1, 2]) assert.equal((await client.answerTo(id)).error?.code, -32603)
  assert.match(client.said.join('\n'), /cannot connect/)
})

test('addresses are paths, pipes and tcp:host:port', () => {
  assert.deepEqual(readAddress('/run/shop.sock', 'linux'), { path: '/run/shop.sock' })
  assert.deepEqual(readAddress('shop', 'linux'), { path: 'shop' })
  assert.deepEqual(readAddress('shop', 'win32'), { path: '\\\\.\\pipe\\shop' })
  assert.deepEqual(readAddress('\\\\.\\pipe\\shop', 'win32'), { path: '\\\\.\\pipe\\shop' })
  assert.deepEqual(readAddress('tcp:localhost:3000'), { host: 'localhost', port: 3_000 })
  assert.deepEqual(readAddress('tcp:[::1]:3000'), { host: '::1', port: 3_000 })
  for (const wrong of ['', 'tcp:', 'tcp:host', 'tcp:host:0', 'tcp:host:65536', 'tcp::1', 'tcp:a:b:1']) {
    assert.equal(readAddress(wrong), undefined, wrong)
  }
})

test('what is not understood is said with the usage', async () => {
  for (const args of [
    [],
    ['a', 'b'],
    ['tcp:x'],
    ['a', '--timeout', 'soon'],
    ['a', '--connect-timeout', '0'],
    ['a', '--no'],
  ]) {
    const said: string[] = []
    const streams = {
      input: new PassThrough(),
      output: new PassThrough(),
      out: () => {},
      err: (line: string) => said.push(line),
    }
    assert.equal(await attachCommand(args, streams), 2, args.join(' '))
    assert.match(said.join('\n'), /Usage: dragoman attach/)
  }
})

test('the command: an error for a request, then the end with the input', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'attach', 'tcp:127.0.0.1:1'], {
    stdio: 'pipe',
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', ...initialize(1) })}\n`)
  const code = await new Promise((resolve) => child.once('close', resolve))
  assert.equal(code, 0)
  assert.equal((JSON.parse(out) as Answer).error?.code, -32603)
})
