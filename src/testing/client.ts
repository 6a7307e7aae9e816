import { createCodecs } from '../codec/registry.ts'
import { connectInMemory, type ConnectOptions } from '../memory.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { ClientCapabilities, LogLevel } from '../model/nouns.ts'
import type { Served } from '../model/served.ts'
import { notificationText, requestText } from '../wire/envelope.ts'

/** What a test's client is told for one request: a result or an error, never both. */
export interface Response {
  readonly result?: JsonObject
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
}

/** A message that answered none of the client's requests: a notification, or a request of the server. */
export interface Heard {
  readonly id?: string | number
  readonly method?: string
  readonly params?: JsonObject
}

/** Answers one question of the server: the result, or `undefined` for an error. */
export type AnswerAsk = (method: string, params: JsonObject, key: string | undefined) => JsonObject | undefined

/** How the client of a test speaks. */
export interface TestClientOptions extends ConnectOptions {
  /** The revision to speak. Default: the newest. */
  readonly revision?: string
  readonly capabilities?: ClientCapabilities
  /**
   * Answers what the server asks: its live requests, and the questions of results that ask for input, which are then
   * retried. Without it live requests stay unanswered, and such results are returned as they are.
   */
  readonly answer?: AnswerAsk
}

/** A client in memory that speaks one revision and does nothing by itself but answer. Texts cross, as on any wire. */
export interface TestClient {
  /** Sends one request and waits for its answer. `meta` goes into `_meta` beside what the revision wants there. */
  request(method: string, params?: JsonObject, meta?: JsonObject): Promise<Response>
  notify(method: string, params?: JsonObject): void
  /** Sends text, or any value, as it is. */
  send(message: unknown): void
  /** The id that the next request will have. */
  nextId(): number
  /** Everything that came and answered no request, in order. */
  readonly heard: readonly Heard[]
  /** What the server said of itself, where there was a handshake. */
  readonly introduction: JsonObject | undefined
  close(): Promise<void>
}

const clientInfo = { name: 'test client', version: '1.0.0' }

/**
 * Connects a client of `revision` to `served`, in memory; shakes hands where the revision has a handshake.
 * @throws if the revision is not known, or the handshake fails
 */
export async function testClient(served: Served, options: TestClientOptions = {}): Promise<TestClient> {
  const { revision, capabilities = {}, answer, ...connect } = options
  const codecs = connect.codecs ?? createCodecs()
  const codec = revision === undefined ? codecs.newest : codecs.get(revision)
  if (!codec) throw new TypeError(`${revision} is not a known revision`)
  const { envelope } = codec
  const link = connectInMemory(served, { graceMs: 0, ...connect })
  const heard: Heard[] = []
  const waiting = new Map<unknown, (response: Response) => void>()
  let ids = 0

  link.onMessage((text) => {
    const message: unknown = JSON.parse(text)
    for (const one of Array.isArray(message) ? message : [message]) if (isObject(one)) take(one)
  })

  function take(message: JsonObject): void {
    const settle = message.method === undefined ? waiting.get(message.id) : undefined
    if (settle) return settle(message)
    heard.push(message)
    if (message.method !== undefined && message.id !== undefined && answer) reply(message)
  }

  function reply({ id, method, params }: JsonObject): void {
    const result = answer?.(typeof method === 'string' ? method : '', isObject(params) ? params : {}, undefined)
    const said = result ? { result } : { error: { code: -32603, message: 'not answered' } }
    link.send(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
  }

  function sent(method: string, params: JsonObject): Promise<Response> {
    const id = ++ids
    return new Promise((resolve) => {
      waiting.set(id, (response) => {
        waiting.delete(id)
        resolve(response)
      })
      link.send(requestText(id, method, params))
    })
  }

  function withMeta(params: JsonObject, meta: JsonObject | undefined): JsonObject {
    const about = {
      version: codec?.revision ?? '',
      capabilities,
      client: clientInfo,
      logLevel: undefined as LogLevel | undefined,
    }
    const all = envelope ? envelope.write(meta ?? {}, about) : meta
    return all ? { ...params, _meta: all } : params
  }

  async function request(method: string, params: JsonObject = {}, meta?: JsonObject): Promise<Response> {
    const response = await sent(method, withMeta(params, meta))
    const { result } = response
    if (result?.resultType !== 'input_required' || !answer) return response
    const { inputRequests, requestState } = result
    const asked = Object.entries(isObject(inputRequests) ? inputRequests : {})
    const replies = asked.map(([key, ask]) => {
      const { method: about, params: question } = ask as JsonObject
      return [key, answer(typeof about === 'string' ? about : '', isObject(question) ? question : {}, key)] as const
    })
    const inputResponses = Object.fromEntries(replies.filter(([, given]) => given !== undefined))
    return request(method, { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }, meta)
  }

  async function shakeHands(): Promise<JsonObject | undefined> {
    if (codec?.lifecycle !== 'session') return undefined
    const { result, error } = await sent('initialize', {
      protocolVersion: codec.revision,
      capabilities: capabilities,
      clientInfo,
    })
    if (!result) throw new Error(`The handshake was refused: ${JSON.stringify(error)}`)
    link.send(notificationText('notifications/initialized', undefined))
    return result
  }

  const introduction = await shakeHands()
  return {
    request,
    notify: (method, params) => link.send(notificationText(method, params)),
    send: (message) => link.send(message),
    nextId: () => ids + 1,
    heard,
    introduction,
    close: () => link.close(),
  }
}
