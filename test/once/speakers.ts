// Clients that say exactly what a test tells them to, over memory and over HTTP, in any revision.
import { createCodecs } from '../../src/codec/registry.ts'
import { connectInMemory, serveHttp } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Principal } from '../../src/model/notification.ts'

/** A response as it crossed. */
export interface Said {
  readonly id?: unknown
  readonly result?: JsonObject
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
}

/** What one call says beside its arguments. */
export interface Saying {
  readonly id?: string | number
  readonly key?: string | number | null
  readonly header?: string
  /** Aborting it drops the connection, over HTTP. */
  readonly signal?: AbortSignal
  /** Beside name and arguments, say the answers of a round. */
  readonly params?: JsonObject
}

/** A client of one revision. */
export interface Speaker {
  readonly modern: boolean
  call(name: string, args: JsonObject, saying?: Saying): Promise<Said>
  cancel(id: string | number): Promise<void>
  close(): Promise<void>
}

const codecs = createCodecs()
const clientInfo = { name: 'speaker', version: '1' }
const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } }
let ids = 1_000

function callOf(revision: string, name: string, args: JsonObject, { id, key, params }: Saying): JsonObject {
  const meta = key === undefined ? {} : { 'dev.dragoman/idempotencyKey': key }
  const envelope = codecs.get(revision)?.envelope
  const all =
    envelope?.write(meta, { version: revision, capabilities, client: clientInfo, logLevel: undefined }) ?? meta
  return {
    jsonrpc: '2.0',
    id: id ?? ++ids,
    method: 'tools/call',
    params: { name, arguments: args, ...params, _meta: all },
  }
}

const handshake = (revision: string, id: string | number): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: revision, capabilities, clientInfo },
})

/** Speaks within the process. @param initializeId the id of the handshake */
export async function overMemory(
  server: Server,
  revision: string,
  options: { readonly principal?: Principal; readonly initializeId?: string | number } = {},
): Promise<Speaker> {
  const { principal, initializeId = 'initialize' } = options
  const modern = codecs.get(revision)?.lifecycle === 'request'
  const link = connectInMemory(server, { graceMs: 0, ...(principal && { principal }) })
  const waiting = new Map<unknown, (said: Said) => void>()
  link.onMessage((text) => {
    const said = JSON.parse(text) as Said // the peer says no more than this
    waiting.get(said.id)?.(said)
  })
  const ask = (message: JsonObject): Promise<Said> =>
    new Promise((resolve) => {
      waiting.set(message.id, resolve)
      link.send(message)
    })
  if (!modern) await ask(handshake(revision, initializeId))
  return {
    modern,
    call: (name, args, saying = {}) => ask(callOf(revision, name, args, saying)),
    async cancel(requestId) {
      link.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    },
    close: () => link.close(),
  }
}

/** Speaks to a server on a port of its own, or on the one of `url`. */
export async function overHttp(
  server: Server,
  revision: string,
  options: { readonly initializeId?: string | number; readonly url?: string } = {},
): Promise<Speaker & { readonly url: string; post(body: unknown, headers?: Record<string, string>): Promise<string> }> {
  const modern = codecs.get(revision)?.lifecycle === 'request'
  const http = options.url === undefined ? await serveHttp(server, { port: 0 }) : undefined
  const url = options.url ?? http?.url ?? ''
  const common: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(modern && { 'mcp-protocol-version': revision }),
  }
  const send = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { ...common, ...headers },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  if (!modern) {
    const response = await send(handshake(revision, options.initializeId ?? 'initialize'))
    await response.text()
    common['mcp-session-id'] = response.headers.get('mcp-session-id') ?? ''
  }
  return {
    modern,
    url,
    async post(body, headers) {
      return (await send(body, headers)).text()
    },
    async call(name, args, saying = {}) {
      const headers = {
        ...(modern && { 'mcp-method': 'tools/call', 'mcp-name': name }),
        ...(saying.header !== undefined && { 'idempotency-key': saying.header }),
      }
      const response = await send(callOf(revision, name, args, saying), headers, saying.signal)
      return lastOf(await response.text())
    },
    async cancel(requestId) {
      await (await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })).text()
    },
    close: async () => void (await http?.close({ graceMs: 0 })),
  }
}

/** The answer, alone or at the end of a stream; nothing for a call that was cancelled. */
function lastOf(text: string): Said {
  if (text === '') return {}
  const data = text.match(/^data: ?(\{.*)$/gm)?.at(-1)
  return JSON.parse(data === undefined ? text : data.replace(/^data: ?/, '')) as Said // the peer says no more than this
}

/** The text of a tool's result, or the code it was refused with. */
export function toldBy({ result, error }: Said): string {
  if (error) return `refused ${error.code}: ${error.message}`
  const content = result?.['content'] as { text?: string }[] | undefined
  const told = content?.map(({ text }) => text ?? '').join() ?? JSON.stringify(result)
  const meta = result?.['_meta'] as JsonObject | undefined
  return meta?.['dev.dragoman/replayed'] === true ? `${told}, replayed` : told
}
