import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { createNodeSend } from '../../../src/transport/dial/http-node.ts'
import type { HttpSend } from '../../../src/transport/dial/http-types.ts'
import { rpc } from '../serve/stand-in.ts'
import { respond, result, scripted } from './scripted.ts'
import { talk } from './support.ts'

function get(send: HttpSend, url: URL): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) =>
    send.send(
      { method: 'GET', url, headers: {} },
      {
        head() {},
        data: (chunk) => void (text += Buffer.from(chunk).toString()),
        end: () => resolve(text),
        fail: reject,
      },
    ),
  )
}

test('connections are kept between requests, but not for long; a quiet response is no unused connection', async () => {
  const ports = new Set<number | undefined>()
  await using server = await scripted(({ url }, r, { socket }) => {
    ports.add(socket.remotePort)
    if (url === '/quick') return respond(r, 200, 'quick')
    r.writeHead(200).write('slow ')
    setTimeout(() => r.end('answer'), 150)
  })
  const options = { connectTimeoutMs: 1_000, idleSocketMs: 50, maxHeaderBytes: 16_384 }
  const send = await createNodeSend(server.url, options)
  const quick = new URL('/quick', server.url)
  await get(send, quick)
  await get(send, quick)
  assert.equal(ports.size, 1)
  assert.equal(await get(send, new URL('/slow', server.url)), 'slow answer')
  assert.equal(ports.size, 1)
  await sleep(150)
  await get(send, quick)
  assert.equal(ports.size, 2)
  send.close()
})

test('an agent that is given makes the connections, and stays', async () => {
  let made = 0
  const agent = new Agent({ keepAlive: true })
  const { createConnection } = agent as Agent & { createConnection(...args: unknown[]): unknown }
  Object.assign(agent, {
    createConnection(...args: unknown[]) {
      made += 1
      return createConnection.apply(agent, args)
    },
  })
  await using server = await scripted((_, r) => respond(r, 200, result(1)))
  for (let time = 0; time < 2; time++) {
    const { ask, link } = await talk(createHttpLink(server.url, { agent }))
    await ask(rpc(1, 'ping'))
    await link.close()
  }
  assert.equal(made, 1)
  agent.destroy()
})
