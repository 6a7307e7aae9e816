import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeHandler } from '../http.ts'
import { httpTarget } from '../transport/dial/target.ts'
import { readMessage } from '../wire/envelope.ts'
import { sseEvent } from '../wire/sse.ts'
import type { BrokenCall } from './broken-call.ts'
import type { BrokenDoor, OpenDoor } from './broken-door.ts'
import { pour } from './broken-line.ts'
import { timerMs } from '../model/timer.ts'

/** A broken server on a port of the loopback interface, over Streamable HTTP. */
export async function openHttp({ served, options, takes }: OpenDoor): Promise<BrokenDoor> {
  const handler = nodeHandler(served, { ...options, path: '/mcp' })
  const server = createServer((request, response) => {
    readText(request).then(
      (text) => {
        const fail = text === '' ? undefined : takes(text)
        const message = fail && readMessage(JSON.parse(text))
        if (fail !== undefined && message?.kind === 'request') fail(callOf(message, response, die))
        // The body is read already, as a framework in front would have it.
        else handler(Object.assign(request, { body: text }), response)
      },
      () => response.destroy(),
    )
  })
  const die = (): void => {
    server.close()
    server.closeAllConnections()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return {
    target: httpTarget(url),
    url,
    async close() {
      await handler.close({ graceMs: 0 })
      die()
    },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function callOf(request: BrokenCall['request'], response: ServerResponse, die: () => void): BrokenCall {
  const begin = (contentType: string): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': contentType })
  }
  return {
    request,
    die,
    send(text) {
      begin('text/event-stream')
      if (!response.destroyed) response.write(sseEvent(text))
    },
    end: () => response.end(),
    flood(head) {
      begin('application/json')
      pour(response, head)
    },
    drop: () => response.destroy(),
    every(ms, act) {
      const timer = setInterval(act, timerMs(ms))
      response.on('close', () => clearInterval(timer))
    },
  }
}
