import type { Codec } from '../codec/codec.ts'
import { createLoss } from '../codec/projection.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { AskAnswer, AskRequest } from '../model/nouns.ts'
import { Refusal } from '../model/refusal.ts'
import { timerMs } from '../model/timer.ts'
import { notificationText, requestText } from '../wire/envelope.ts'
import type { PeerOptions, SendAsk, Session } from './peer.ts'

/** What surrounds a live ask. */
export interface Asking {
  readonly codec: Codec
  readonly session: Session
  readonly send: SendAsk
  /** Takes a request back that was sent; also once the call that asked is over. */
  readonly withdraw: (text: string) => void
  readonly call: AskingCall
  readonly options: PeerOptions
}

/** The call that asks. */
export interface AskingCall {
  /** Answered or cancelled: nobody waits for its questions any more. */
  readonly over: boolean
  /** What to do about each of its questions that wait, once it is over. */
  readonly pending: Set<() => void>
}

/** The client answered an ask with an error, or not at all. */
export class AskFailed extends Error {
  override readonly name = 'AskFailed'
}

/**
 * Sends a live request to the client and waits for its answer, at most `askTimeoutMs`.
 * @throws Refusal `NotRepresentable` for what the revision cannot ask, `NotCallable` where the client cannot be reached,
 * `Overloaded` when too many asks wait already; rejects with {@link AskFailed} for an error or silence.
 */
export async function askClient(request: AskRequest, asking: Asking): Promise<AskAnswer> {
  const { codec, session, options } = asking
  const convert = codec.asks.get(request.method)
  const params = (request.params ?? {}) as JsonObject
  if (!convert || convert.refuses(params)) throw new Refusal('NotRepresentable')
  checkRoom(asking)
  const report = (rule: string, path?: string): void =>
    options.onLoss(createLoss(codec.revision, request.method, rule, path))
  const encoded = convert.params.encode(params, report)
  const id = Buffer.from(options.random(12)).toString('base64url')
  if (session.asking) {
    await session.asking(id, options.askTimeoutMs)
    checkRoom(asking)
  }
  return convert.result.decode(await exchanged(id, request.method, encoded, asking))
}

function checkRoom({ call, session, options }: Asking): void {
  if (call.over) throw new AskFailed('The call is over')
  if (session.asks.size >= options.maxPendingAsks) throw new Refusal('Overloaded')
}

function exchanged(
  id: string,
  method: string,
  params: JsonObject,
  { session, send, withdraw, call, options }: Asking,
): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      session.asks.delete(id)
      clearTimeout(timer)
      call.pending.delete(onOver)
    }
    const giveUp = (error: Error, reason: string): void => {
      finish()
      withdraw(notificationText('notifications/cancelled', { requestId: id, reason }))
      reject(error)
    }
    const onOver = (): void => giveUp(new AskFailed('The call is over'), 'the call that asked is over')
    const timer = setTimeout(
      () => giveUp(new AskFailed('The client did not answer in time'), 'timed out'),
      timerMs(options.askTimeoutMs),
    )
    session.asks.set(id, {
      settle: ({ result, error }) => {
        finish()
        if (isObject(result)) resolve(result)
        else reject(new AskFailed('The client answered with an error', { cause: error }))
      },
      abandon: (refusal) => {
        finish()
        reject(refusal)
      },
    })
    call.pending.add(onOver)
    if (send(requestText(id, method, params))) return
    finish()
    reject(new Refusal('NotCallable'))
  })
}
