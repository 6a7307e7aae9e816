// Uses one link after the other, closes it, and tells what of the process's resources is left of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../../../src/peer/link.ts'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { createHttpSseLink } from '../../../src/transport/dial/http-sse.ts'
import { createMemoryLink } from '../../../src/transport/dial/memory.ts'
import { createSocketLink } from '../../../src/transport/dial/socket.ts'
import { createStdioLink } from '../../../src/transport/dial/stdio.ts'
import { connectInMemory } from '../../../src/transport/serve/memory.ts'
import { serveSocket } from '../../../src/transport/serve/socket.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { call, modernCall, notification, peerOf, rpc, standIn } from '../serve/stand-in.ts'
import { event, respond, result, scripted, stream, type Script } from './scripted.ts'
import { mirrored, talk, type Talk } from './support.ts'

type Way = () => Promise<void>

const used = async (link: Link, use: (talk: Talk) => Promise<unknown>): Promise<void> => {
  const talking = await talk(link)
  await use(talking)
  await link.close()
}

function http(script: Script, use: (talk: Talk) => Promise<unknown>, options = {}): Way {
  return async () => {
    const server = await scripted(script)
    await used(createHttpLink(server.url, { retryMs: 10, ...options }), use)
    await server[Symbol.asyncDispose]()
  }
}

const echo = modernCall(1, 'echo', { text: 'hi' })
const ping = (talk: Talk): Promise<unknown> => talk.ask(rpc(1, 'ping'))
const child = (code: string): Link =>
  createStdioLink({ command: process.execPath, args: ['-e', `process.stdin.resume(); ${code}`], graceMs: 200 })

async function withServer(use: (url: string) => Promise<void>): Promise<void> {
  const server = await serveHttp(peerOf(standIn()))
  await use(server.url)
  await server.close({ graceMs: 10 })
  // What the server itself waits with.
  await sleep(50)
}

const ways: Record<string, Way> = {
  json: http((_, r) => respond(r, 200, result(1)), ping),
  stream: http((_, r) => stream(r, event(result(1))), ping),
  refused: http(
    (_, r) => respond(r, 500),
    (talk) => ping(talk).catch(() => {}),
  ),
  aborted: http(
    (_, r) => stream(r),
    ({ send }) => send(rpc(1, 'ping'), { signal: AbortSignal.timeout(20) }).then(() => sleep(40)),
  ),
  unreachable: () => used(createHttpLink(new URL('http://127.0.0.1:1/')), (talk) => ping(talk).catch(() => {})),
  fetch: http((_, r) => stream(r, event(result(1))), ping, {
    fetch: (url: URL, init: RequestInit) => fetch(url, init),
  }),
  session: () =>
    withServer((url) =>
      used(createHttpLink(new URL(url)), async ({ agree, ask }) => {
        await agree('2025-11-25')
        await ask(call(1, 'progress', { steps: 2 }))
        await ask(echo, { headers: mirrored(echo) })
      }),
    ),
  // A stream that breaks over and over, and is being waited for when the link is closed.
  listening: http(
    ({ method }, r) => (method === 'GET' ? (stream(r), void r.end()) : respond(r, 202)),
    async ({ send, link }) => {
      link.agree({
        revision: 'any',
        http: { versionHeader: 'session', sessions: true, resumable: true, priming: true, disconnectCancels: false },
      })
      await send(notification('notifications/initialized'))
      await sleep(60)
    },
  ),
  'http+sse': () =>
    withServer((url) => used(createHttpSseLink(new URL('/sse', url)), ({ agree }) => agree('2024-11-05'))),
  command: () => used(child(''), () => sleep(20)),
  stubborn: () => used(child('process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)'), () => sleep(200)),
  // Ends this process, and not the one that it started, which would not mind the end of its input.
  async exit() {
    const code =
      'setInterval(() => {}, 1e6); console.log(JSON.stringify({ jsonrpc: "2.0", method: String(process.pid) }))'
    const { heard } = await talk(createStdioLink({ command: process.execPath, args: ['-e', code] }))
    while (heard.messages.length === 0) await sleep(5)
    console.log(heard.messages[0]?.message.method)
    process.exit()
  },
  async socket() {
    const server = await serveSocket(peerOf(standIn()))
    await used(createSocketLink({ port: server.port ?? 0 }), ({ ask }) => ask(echo))
    await server.close()
  },
  memory: () =>
    used(
      createMemoryLink(() => connectInMemory(peerOf(standIn()))),
      ({ ask }) => ask(echo),
    ),
}

/** Resources that hold the process, but for its own output and the tick in which they are counted. */
const held = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((one) => !/^(?:TTYWrap|PipeWrap|Immediate)$/.test(one))
    .sort()

const before = held().join()
for (const name of process.argv.slice(2)) {
  await ways[name]?.()
  // The system takes a moment to let go of a socket.
  for (let tries = 0; tries < 40 && held().join() !== before; tries++) await sleep(25)
  const left = held().join()
  console.log(`${name}: ${left === before ? 'nothing left' : left}`)
}
