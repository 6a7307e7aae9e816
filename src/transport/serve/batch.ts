import { Refusal } from '../../model/refusal.ts'
import type { Answer, Peer, ReadHeader, Session } from '../../peer/peer.ts'
import { readMessage } from '../../wire/envelope.ts'
import type { Message, RefusedMessage } from '../../wire/envelope.ts'

/** Where the answer to one message goes; `undefined` when it gets none. */
export type Reply = (answer: Answer | undefined) => void

/** Takes in one message and replies exactly once. */
export type Route = (message: Message | RefusedMessage, reply: Reply) => void

/** What became of a batch: how many of its entries were messages, and the answers in the order they were ready. */
export interface BatchOutcome {
  readonly wellFormed: number
  readonly answers: readonly Answer[]
}

/**
 * Takes a batch apart and reports when the last entry is settled (2025-03-26, "JSON-RPC batching").
 * Neither a handshake nor a request that needs no session can be part of one.
 */
export function routeBatch(
  peer: Peer,
  session: Session,
  entries: readonly unknown[],
  route: Route,
  done: (outcome: BatchOutcome) => void,
): void {
  const answers: Answer[] = []
  let wellFormed = 0
  let waiting = entries.length
  const settle: Reply = (answer) => {
    if (answer !== undefined) answers.push(answer)
    waiting -= 1
    if (waiting === 0) done({ wellFormed, answers })
  }
  const messages = entries.map((entry) => readMessage(entry))
  wellFormed = messages.filter((message) => message.kind !== 'refused').length
  for (const message of messages) {
    if (message.kind === 'request' && (message.method === 'initialize' || peer.isSelfContained(message, undefined))) {
      settle(peer.refuse(message.id, new Refusal('InvalidRequest'), session.codec))
    } else {
      route(message, settle)
    }
  }
}

/** The headers of a batch, but for the key of a single call: it cannot be that of each. */
export function sharedHeader(header: ReadHeader): ReadHeader {
  return (name) => (name === 'idempotency-key' ? undefined : header(name))
}
