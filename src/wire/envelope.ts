import { isObject, own } from '../model/json.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'

/** What ties an answer to its request. A string and a number are never equal, whatever they spell. */
export type RequestId = string | number

/** A message that wants an answer. */
export interface RequestMessage {
  readonly kind: 'request'
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject | undefined
}

/** A message that is never answered. */
export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject | undefined
}

/** The error member of a response. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

/** A response carries either a result or an error; only an error may come without an id. */
export type ResponseMessage =
  | { readonly kind: 'response'; readonly id: RequestId; readonly result: JsonObject; readonly error?: undefined }
  | {
      readonly kind: 'response'
      readonly id: RequestId | undefined
      readonly result?: undefined
      readonly error: RpcError
    }

/** Whatever JSON-RPC 2.0 has for one message. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage

/** What is not a message. `id` is there when it could be read, so that the refusal can be answered to it. */
export interface RefusedMessage {
  readonly kind: 'refused'
  readonly id: RequestId | undefined
  /**
   * What a malformed response would have answered. Its `id` is then undefined: that is the number of a request of ours,
   * and an error under it would answer one of the peer's.
   */
  readonly answers?: RequestId
  readonly refusal: Refusal
}

/**
 * Reads one JSON value as a JSON-RPC 2.0 message (specification, base protocol, "Messages").
 * Total: whatever is not a message comes back as an `InvalidRequest`. Members it does not know are let pass.
 * An array is refused here; batches are taken apart before.
 */
export function readMessage(value: unknown): Message | RefusedMessage {
  if (!isObject(value)) return refused(undefined)
  const method = own(value, 'method')
  const rawId = own(value, 'id')
  const id = isRequestId(rawId) ? rawId : undefined
  if (own(value, 'jsonrpc') !== '2.0') return refused(id)
  if (method === undefined) return readResponse(value, id, rawId)
  if (typeof method !== 'string' || own(value, 'result') !== undefined || own(value, 'error') !== undefined) {
    return refused(id)
  }
  const params = own(value, 'params')
  if (params !== undefined && !isObject(params)) return refused(id)
  if (rawId === undefined) return { kind: 'notification', method, params }
  if (id === undefined || method.startsWith('notifications/')) return refused(id)
  return { kind: 'request', id, method, params }
}

function readResponse(value: JsonObject, id: RequestId | undefined, rawId: Json | undefined): Message | RefusedMessage {
  const result = own(value, 'result')
  const error = own(value, 'error')
  if (error === undefined && result === undefined) return refused(id)
  if (error === undefined)
    return id !== undefined && isObject(result) ? { kind: 'response', id, result } : malformedAnswer(id)
  if (result !== undefined || !isRpcError(error)) return malformedAnswer(id)
  // An error that answers something unreadable has no id, or the null that JSON-RPC 2.0 asks for.
  return id === undefined && rawId !== undefined && rawId !== null ? refused(id) : { kind: 'response', id, error }
}

function malformedAnswer(answers: RequestId | undefined): RefusedMessage {
  return answers === undefined ? refused(undefined) : { ...refused(undefined), answers }
}

/** What a malformed response comes to for whoever waits for it. */
export function asError(answers: RequestId): ResponseMessage {
  return { kind: 'response', id: answers, error: { code: -32600, message: 'The response is malformed' } }
}

function refused(id: RequestId | undefined): RefusedMessage {
  return { kind: 'refused', id, refusal: new Refusal('InvalidRequest') }
}

/** Whether `value` can be a request's id: a string, or an integer that survives a double. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

function isRpcError(value: Json): value is JsonObject & RpcError {
  return isObject(value) && Number.isSafeInteger(own(value, 'code')) && typeof own(value, 'message') === 'string'
}

/** The JSON text of an id; `null` stands for one that could not be read. */
export function idText(id: RequestId | undefined): string {
  if (id === undefined) return 'null'
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

/** The text of a request. */
export function requestText(id: RequestId, method: string, params: JsonObject | undefined): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${paramsText(params)}}`
}

/** The text of a notification. */
export function notificationText(method: string, params: JsonObject | undefined): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${paramsText(params)}}`
}

/** The text of an answer. @param resultJson the result, already as JSON text */
export function resultText(id: RequestId, resultJson: string): string {
  return `${beforeResult(id)}${resultJson}}`
}

/** {@link resultText} in pieces. @param resultJson the result as the bytes of its JSON text */
export function resultPieces(id: RequestId, resultJson: Uint8Array): readonly (string | Uint8Array)[] {
  return [beforeResult(id), resultJson, '}']
}

function beforeResult(id: RequestId): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":`
}

/** The text of a refusal. Without an id it says `"id":null`, as JSON-RPC 2.0 §5 has it. */
export function errorText(id: RequestId | undefined, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(error)}}`
}

function paramsText(params: JsonObject | undefined): string {
  return params === undefined ? '' : `,"params":${JSON.stringify(params)}`
}
