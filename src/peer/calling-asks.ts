import type { Codec } from '../codec/codec.ts'
import { isObject, own, type JsonObject } from '../model/json.ts'
import type { AskAnswer, AskRequest } from '../model/nouns.ts'
import type { Features } from '../model/served.ts'
import { errorText, isRequestId, resultText, type RequestId, type RequestMessage } from '../wire/envelope.ts'

/** What answers the questions of a server. */
export type AnswerAsk = (request: AskRequest, signal: AbortSignal) => Promise<AskAnswer>

/** The user said no to a request that has no words for that of its own (sampling, roots). */
export class AskDeclined extends Error {
  override readonly name = 'AskDeclined'
}

/** What surrounds the requests of one server. */
export interface AskScope {
  /** What was agreed; `undefined` before that. */
  dialect(): { readonly codec: Codec; readonly features: Features } | undefined
  /** Whether a call is in flight that the server can be asking for. */
  isServing(): boolean
  readonly answer: AnswerAsk
  send(text: string): void
  noise(text: string): void
  /** Questions that may be open at once. */
  readonly maxAsks: number
}

/** The requests of one server to its client. */
export interface AskDesk {
  /** Answers a request, at once where it is refused. */
  take(request: RequestMessage): void
  /** The server takes a request back: its handler is told, and no answer goes out. */
  cancelled(params: JsonObject | undefined): void
  /** Takes all of them back. */
  close(): void
}

const rejected = { code: -32601, message: 'The client does not offer this' }
const malformed = { code: -32602, message: 'The request is not one that the client can answer' }
const unassociated = { code: -32602, message: 'The request belongs to no call of the client' }
const duplicate = { code: -32600, message: 'A request with this id is still open' }
const crowded = { code: -32603, message: 'Too many requests are open' }
const failed = { code: -32603, message: 'The client could not answer' }
const declined = { code: -1, message: 'The user rejected the request' }

/** Makes the desk for one link. */
export function createAskDesk(scope: AskScope): AskDesk {
  const open = new Map<RequestId, AbortController>()

  /** What is wrong with a request, if anything. */
  function refusalOf({ id, method, params = {} }: RequestMessage): typeof rejected | undefined {
    const dialect = scope.dialect()
    const ask = dialect?.codec.asks.get(method)
    if (!dialect || !ask || method.startsWith('tasks/')) return rejected
    const { features } = dialect
    if (ask.needs !== undefined && !features.has(ask.needs)) return rejected
    if (ask.check(params) || !isDeclared(method, params, features)) return malformed
    if (!scope.isServing()) return unassociated
    if (open.has(id)) return duplicate
    return open.size >= scope.maxAsks ? crowded : undefined
  }

  async function answer(id: RequestId, codec: Codec, request: AskRequest): Promise<void> {
    const controller = new AbortController()
    open.set(id, controller)
    let text: string
    try {
      const given = await scope.answer(request, controller.signal)
      const convert = codec.asks.get(request.method)
      text = resultText(id, JSON.stringify(convert?.result.encode(given, ignore) ?? given))
    } catch (error) {
      text = errorText(id, error instanceof AskDeclined ? declined : failed)
    }
    if (open.get(id) === controller) open.delete(id)
    if (!controller.signal.aborted) scope.send(text)
  }

  return {
    take(request) {
      const { id, method, params = {} } = request
      const dialect = scope.dialect()
      // Where requests stand alone a server never sends any, and a client never answers one (transports).
      if (dialect?.codec.lifecycle === 'request') return scope.noise(`a request of the server: ${method}`)
      if (method === 'ping') return scope.send(resultText(id, '{}'))
      const error = refusalOf(request)
      if (error || !dialect) return scope.send(errorText(id, error ?? rejected))
      const decoded = dialect.codec.asks.get(method)?.params.decode(params) ?? params
      // Which methods there are is the table's word, and that the params fit was checked above.
      void answer(id, dialect.codec, { method, params: decoded } as unknown as AskRequest)
    },
    cancelled(params) {
      const id = params && own(params, 'requestId')
      if (!isRequestId(id)) return
      open.get(id)?.abort(new Error('The server took the request back'))
      open.delete(id)
    },
    close() {
      for (const controller of open.values()) controller.abort(new Error('The connection was closed'))
      open.clear()
    },
  }
}

const ignore = (): void => {}

/** Whether a request keeps to the modes that the client declared (client features, capabilities). */
export function isDeclared(method: string, params: JsonObject, features: Features): boolean {
  if (method === 'elicitation/create') {
    return features.has(own(params, 'mode') === 'url' ? 'elicitation.url' : 'elicitation.form')
  }
  if (method !== 'sampling/createMessage') return true
  const usesTools = own(params, 'tools') !== undefined || isObject(own(params, 'toolChoice'))
  return !usesTools || features.has('sampling.tools')
}
