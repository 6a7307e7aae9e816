import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { memoryStore } from '../../../src/store/memory.ts'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import type { HttpLinkOptions } from '../../../src/transport/dial/http-channel.ts'
import { fetchHandler } from '../../../src/transport/serve/fetch.ts'
import type { HttpOptions } from '../../../src/transport/serve/http-types.ts'
import { serveHttp } from '../../../src/transport/serve/node.ts'
import { call, modern, modernCall, notification, peerOf, said, standIn, type StandIn } from '../serve/stand-in.ts'
import { mirrored, talk, until, type Talk } from './support.ts'

interface Way {
  readonly served: StandIn
  talk(options?: HttpLinkOptions): Promise<Talk>
  close(): Promise<void>
}

/** Over a real socket, and by a fetch that is a handler in this process. */
const ways: Record<string, (options?: HttpOptions) => Promise<Way>> = {
  async node(options) {
    const served = standIn()
    const server = await serveHttp(peerOf(served), { store: memoryStore(), ...options })
    return {
      served,
      talk: (dialing) => talk(createHttpLink(new URL(server.url), dialing)),
      close: () => server.close({ graceMs: 100 }),
    }
  },
  async fetch(options) {
    const served = standIn()
    const handler = fetchHandler(peerOf(served), { store: memoryStore(), ...options })
    const fetch = (url: URL, init: RequestInit): Promise<Response> => handler(new Request(url, init))
    return {
      served,
      talk: (dialing) => talk(createHttpLink(new URL('http://localhost/mcp'), { fetch, ...dialing })),
      close: () => handler.close({ graceMs: 100 }),
    }
  },
}

for (const [name, open] of Object.entries(ways)) {
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    test(`${name}: ${revision}: a session, as JSON and as a stream`, async () => {
      const way = await open()
      const { agree, ask, heard, link } = await way.talk()
      assert.equal((await agree(revision)).result?.['protocolVersion'], revision)
      assert.equal(said(await ask(call(1, 'echo', { text: 'hi' }))), 'hi')
      assert.deepEqual(heard.messages.at(-1)?.received, { on: 1, status: 200 })
      assert.equal(said(await ask(call(2, 'progress', { steps: 2 }))), 'done')
      const progress = heard.messages.filter(({ message }) => message.method === 'notifications/progress')
      assert.deepEqual(
        progress.map(({ received }) => received.on),
        [2, 2],
      )
      const refused = await ask(call(3, 'nope'))
      assert.equal(refused.error?.code, -32602)
      if (revision >= '2025') {
        // The stream of the session.
        await until(() => {
          way.served.change({ kind: 'tools', visibleTo: () => true })
          return heard.messages.some(
            ({ message, received }) =>
              message.method === 'notifications/tools/list_changed' && received.on === undefined,
          )
        })
      }
      await link.close()
      assert.deepEqual([heard.losses, heard.ends, heard.expirations], [[], [], 0])
      await way.close()
    })
  }

  test(`${name}: a signal of many calls keeps nothing of those that ended`, async () => {
    const way = await open()
    const { ask, send, link } = await way.talk()
    const { signal } = new AbortController()
    for (let id = 0; id < 20; id++) {
      const message = modernCall(id, id % 2 === 0 ? 'echo' : 'progress', { steps: 1 })
      await ask(message, { headers: mirrored(message), signal })
    }
    const notice = notification('notifications/x')
    await send(notice, { headers: mirrored(notice), signal })
    await until(() => getEventListeners(signal, 'abort').length === 0)
    await link.close()
    await way.close()
  })

  test(`${name}: requests that say everything themselves, mirrored in headers`, async () => {
    const way = await open()
    const { ask, heard, link } = await way.talk()
    const discover = modern('d', 'server/discover')
    const found = await ask(discover, { headers: mirrored(discover) })
    assert.ok(Array.isArray(found.result?.['supportedVersions']))
    const echo = modernCall(1, 'echo', { text: 'ünï' })
    assert.equal(said(await ask(echo, { headers: mirrored(echo) })), 'ünï')
    const unlike = await ask(modernCall(2, 'echo'), { headers: { ...mirrored(echo), 'mcp-name': 'other' } })
    assert.equal(unlike.error?.code, -32020)
    assert.deepEqual(heard.messages.at(-1)?.received, { on: 2, status: 400 })
    await link.close()
    await way.close()
  })
}
