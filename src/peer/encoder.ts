import type { Codec } from '../codec/codec.ts'
import { createLoss, type Loss } from '../codec/projection.ts'
import { refusals } from '../codec/refusals.ts'
import { toWire } from '../codec/refuse.ts'
import type { JsonObject } from '../model/json.ts'
import { isLasting } from '../model/lasting.ts'
import type { Notification } from '../model/notification.ts'
import { isRefusal, Refusal, wholeSeconds } from '../model/refusal.ts'
import { fromStoreError } from '../model/store-unavailable.ts'
import { errorText, resultPieces, resultText, type RequestId, type RpcError } from '../wire/envelope.ts'
import type { Answer, PeerOptions } from './peer.ts'

/** The way back: results, refusals and notifications of the model as text of one revision. */
export interface Encoder {
  /** @throws Refusal `Unserializable` for what is not JSON, `NotRepresentable` for a loss where that is refused */
  result(id: RequestId, method: string, result: JsonObject, codec: Codec, subscription: RequestId | undefined): Answer
  /** The answer to `initialize` or `server/discover`. */
  introduction(id: RequestId, description: JsonObject, codec: Codec): Answer
  /** The answer to whatever was thrown. Never throws. */
  failure(id: RequestId | undefined, method: string | undefined, thrown: unknown, codec: Codec): Answer
  /** The params of a notification, or `undefined` where the revision has no such thing. */
  notification(notification: Notification, codec: Codec): JsonObject | undefined
}

/** The last resort: what needs nothing of whatever was thrown. */
const internal = { code: -32603, message: refusals.InternalError.message }

/** Losses in the results of these are judged where losses are refused; in listings they are only decorations. */
const judged: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get'])

/** A result as it is kept; bytes only of a long one. */
interface Written {
  readonly text: string
  readonly bytes: Uint8Array | undefined
  /** What the text does not say; told whenever it is sent. */
  readonly losses: readonly Loss[]
}

/** From about this many characters on, bytes are sent for less than a text, for all that they take a write of their own. */
const longText = 32 * 1024

/** Makes the encoder of one peer. */
export function createEncoder(options: PeerOptions): Encoder {
  /** What the server itself made to last is the same each time, so it is written once per revision. */
  const written = new WeakMap<object, Map<Codec, Written>>()

  /** A result with the server's identity, where the revision puts it on every one. */
  function signed(result: JsonObject, { envelope }: Codec): JsonObject {
    return envelope ? envelope.sign(result, options.served.describe(undefined).info) : result
  }

  function keep(method: string, result: JsonObject, codec: Codec, subscription: RequestId | undefined): Written {
    const kept = written.get(result) ?? new Map<Codec, Written>()
    const known = kept.get(codec)
    if (known !== undefined) {
      known.losses.forEach(tell)
      return known
    }
    const losses: Loss[] = []
    const text = write(method, result, codec, subscription, losses)
    const fresh = { text, bytes: text.length < longText ? undefined : Buffer.from(text), losses }
    written.set(result, kept.set(codec, fresh))
    return fresh
  }

  /** Tells of a loss. What the listener throws is its own trouble, and none of the peer's. */
  function tell(loss: Loss): void {
    try {
      options.onLoss(loss)
    } catch (error) {
      options.logger.error('onLoss threw', { rule: loss.rule, error })
    }
  }

  function write(
    method: string,
    result: JsonObject,
    codec: Codec,
    subscription: RequestId | undefined,
    losses?: Loss[],
  ): string {
    const convert = (codec.requests.get(method) ?? codec.foreign).result
    let lost = false
    const report = (rule: string, path?: string): void => {
      const loss = createLoss(codec.revision, method, rule, path)
      lost ||= !loss.decoration
      losses?.push(loss)
      tell(loss)
    }
    const encoded = serialize(() => {
      const plain = convert.encode(result, report)
      const tagged = subscription === undefined || !codec.envelope ? plain : codec.envelope.tag(plain, subscription)
      return JSON.stringify(signed(tagged, codec))
    })
    if (lost && options.strict && judged.has(method)) throw new Refusal('NotRepresentable')
    return encoded
  }

  function introduce(description: JsonObject, codec: Codec): string {
    const report = (rule: string, path?: string): void => tell(createLoss(codec.revision, 'initialize', rule, path))
    const encoded = codec.description.encode(description, report)
    return JSON.stringify(signed(encoded, codec))
  }

  function failure(id: RequestId | undefined, method: string | undefined, thrown: unknown, codec: Codec): Answer {
    try {
      return refused(id, method, thrown, codec)
    } catch (error) {
      // A refusal that cannot be told: its data is no JSON, say, or one of its getters throws.
      options.logger.error('a refusal could not be told', { error })
      return { text: errorIn(codec, id, internal), status: 200, retryAfter: undefined }
    }
  }

  function refused(id: RequestId | undefined, method: string | undefined, thrown: unknown, codec: Codec): Answer {
    const refusal = isRefusal(thrown)
      ? thrown
      : (fromStoreError(thrown) ?? new Refusal('InternalError', { cause: thrown }))
    const { kind, cause } = refusal
    if (cause !== undefined) options.logger.error('a call was refused', { kind, error: cause })
    else options.logger.debug('a request was refused', { kind })
    const wire = toWire(refusal, codec, options.refusals, method)
    // They go into headers, and may be of another copy of this package or of no type checker's making.
    const retryAfter = wholeSeconds(refusal.retryAfter)
    const challenge = typeof refusal.challenge === 'string' ? refusal.challenge : undefined
    const text =
      wire.result && id !== undefined
        ? resultText(id, JSON.stringify(signed(wire.result, codec)))
        : errorIn(codec, id, wire.error ?? internal)
    return { text, status: wire.status, retryAfter, challenge }
  }

  return {
    result(id, method, result, codec, subscription) {
      if (!isLasting(result)) return success(id, write(method, result, codec, subscription))
      const { text, bytes } = keep(method, result, codec, subscription)
      return bytes ? { ...success(id, text), pieces: resultPieces(id, bytes) } : success(id, text)
    },
    introduction: (id, description, codec) => success(id, introduce(description, codec)),
    failure,
    notification: ({ method, params }, codec) => {
      const convert = codec.notifications.get(method)
      return convert?.params.encode((params ?? {}) as JsonObject, (rule, path) =>
        tell(createLoss(codec.revision, method, rule, path)),
      )
    },
  }
}

function success(id: RequestId, resultJson: string): Answer {
  return { text: resultText(id, resultJson), status: 200, retryAfter: undefined }
}

/** An error that answers something unreadable: its id is left out where the revision has that, else it is null. */
function errorIn(codec: Codec, id: RequestId | undefined, error: RpcError): string {
  if (id !== undefined || !codec.features.has('error.withoutId')) return errorText(id, error)
  return `{"jsonrpc":"2.0","error":${JSON.stringify(error)}}`
}

/** @throws Refusal `Unserializable` in place of what JSON throws */
function serialize(write: () => string): string {
  try {
    const text: string | undefined = write()
    // What has `toJSON` may be something else than it looks like, or nothing at all.
    if (text?.startsWith('{')) return text
    throw new TypeError('A result is an object')
  } catch (cause) {
    throw new Refusal('Unserializable', { cause })
  }
}
