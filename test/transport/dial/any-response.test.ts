// Whatever a server writes, a request comes to exactly one end: an answer, a loss or a rejection. Only a server that gives
// its events ids can have a client come back for as long as the caller has patience.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHttpLink } from '../../../src/transport/dial/http.ts'
import { rpc } from '../serve/stand-in.ts'
import { talk, until } from './support.ts'

const pieces = fc.constantFrom(
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 404 Not Found\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'content-type: application/json\r\n',
  'content-type: text/event-stream\r\n',
  'content-length: 38\r\n',
  'content-length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'mcp-session-id: s\r\n',
  'location: /x\r\n',
  '\r\n',
  '5\r\n',
  '0\r\n\r\n',
  '{"jsonrpc":"2.0","id":1,"result":{}}\r\n',
  'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  'id: 7\n',
  'retry: 1\n',
  'data:\n\n',
  '\0',
  '\u{1F600}',
)

test('any bytes of a server come to one end', async () => {
  let writes: readonly string[] = []
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        for (const write of writes) socket.write(write)
        socket.end()
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const ends = { answered: 0, lost: 0, rejected: 0 }
  const usual = fc.tuple(
    fc.constantFrom(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n',
    ),
    fc.array(pieces, { maxLength: 5 }),
  )
  const responses = fc.oneof(
    fc.array(pieces, { maxLength: 8 }),
    usual.map(([head, rest]) => [head, ...rest]),
  )
  await fc.assert(
    fc.asyncProperty(responses, async (response) => {
      writes = response
      const { send, heard, link } = await talk(createHttpLink(url, { retryMs: 1 }))
      let rejected = 0
      const patience = new AbortController()
      await send(rpc(1, 'ping'), { signal: patience.signal }).catch(() => (rejected = 1))
      const answered = (): number => Math.min(1, heard.messages.filter(({ message }) => message.id === 1).length)
      const comesBack = response.includes('id: 7\n')
      const impatient = setTimeout(() => patience.abort(), comesBack ? 100 : 60_000)
      await until(() => patience.signal.aborted || rejected + answered() + heard.losses.length > 0)
      clearTimeout(impatient)
      const came = rejected + answered() + heard.losses.length
      assert.equal(came, patience.signal.aborted ? 0 : 1, JSON.stringify(response))
      ends.answered += answered()
      ends.lost += heard.losses.length
      ends.rejected += rejected
      await link.close()
    }),
    { numRuns: 150 },
  )
  server.close()
  // All three were met.
  assert.ok(ends.answered > 0 && ends.lost > 0 && ends.rejected > 0, JSON.stringify(ends))
})
