import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { resultText, type RequestId, type RequestMessage } from '../wire/envelope.ts'

/** A call that a broken server has taken, and the ways in which it can fail it. */
export interface BrokenCall {
  readonly request: RequestMessage
  /** Sends a text to the caller, on the response of the call where it has one. */
  send(text: string): void
  /** Ends what only this call has; where everything shares one connection it does nothing. */
  end(): void
  /** Sends `head`, and then the same character until a gigabyte is full; in memory, where that is one text, 64 MiB. */
  flood(head: string): void
  /** Breaks the connection of the call. */
  drop(): void
  /** Ends the whole server at once. */
  die(): void
  /** Does something every `ms` milliseconds until the caller or the server is gone. */
  every(ms: number, act: () => void): void
}

/** The right answer to a call of a tool, under an id that need not be right. */
export function answerTo({ params }: RequestMessage, id: RequestId): string {
  const result = { content: [{ type: 'text', text: 'done' }] }
  return resultText(id, JSON.stringify(isSelfContained(params) ? { resultType: 'complete', ...result } : result))
}

/** Whether the request says in `_meta` which revision it is of. */
export function isSelfContained(params: JsonObject | undefined): boolean {
  return namedRevision(params) !== undefined
}

/** The revision that a request names itself, if it does. */
export function namedRevision(params: JsonObject | undefined): Json | undefined {
  return own(metaOf(params), versionKey)
}

/** What progress of the request is reported under, if it wants any. */
export function progressTokenOf(params: JsonObject | undefined): RequestId | undefined {
  const token = own(metaOf(params), 'progressToken')
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}

const versionKey = 'io.modelcontextprotocol/protocolVersion'

function metaOf(params: JsonObject | undefined): JsonObject {
  const meta = own(params ?? {}, '_meta') ?? null
  return isObject(meta) ? meta : {}
}
