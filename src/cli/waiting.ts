import { errorText, readMessage, type RequestId } from '../wire/envelope.ts'
import { timerMs } from '../model/timer.ts'

/** The requests of a client that waits for an application, and what the client is told where no answer comes. */
export interface Waiting {
  /** A message or a batch of the client goes out. */
  sent(value: unknown): void
  /** A message or a batch of the application came. @returns `false` for an answer that was given in its place already */
  came(value: unknown): boolean
  /** Answers everything that waits: nothing will come any more. */
  giveUp(): void
}

interface Open {
  readonly timer: NodeJS.Timeout | undefined
  readonly token: unknown
}

const late = { code: -32603, message: 'The application did not answer in time.' }
const gone = { code: -32603, message: 'The application cannot be reached.' }
/** Answers that are too late come soon or never. */
const maxExpired = 1_000
/** The one request that is answered when it ends, not when it is heard. */
const endless = 'subscriptions/listen'

/**
 * Sees to it that each request is answered exactly once.
 * @param timeoutMs milliseconds without an answer, or progress on it, after which a request is answered here; 0: never
 * @param answer where such answers go
 * @param withdraw told of each request that was given up for its time
 */
export function createWaiting(
  timeoutMs: number,
  answer: (text: string) => void,
  withdraw: (id: RequestId) => void,
): Waiting {
  const open = new Map<RequestId, Open>()
  const expired = new Set<RequestId>()

  function settle(id: RequestId): boolean {
    clearTimeout(open.get(id)?.timer)
    return open.delete(id)
  }

  function expire(id: RequestId): void {
    if (!settle(id)) return
    const [oldest] = expired
    if (expired.size >= maxExpired && oldest !== undefined) expired.delete(oldest)
    expired.add(id)
    answer(errorText(id, late))
    withdraw(id)
  }

  function refresh(token: unknown): void {
    for (const { timer, token: other } of open.values()) if (token === other) timer?.refresh()
  }

  return {
    sent(value) {
      for (const entry of Array.isArray(value) ? value : [value]) {
        const message = readMessage(entry)
        if (message.kind !== 'request') continue
        const { id, method, params } = message
        expired.delete(id)
        settle(id)
        const timed = timeoutMs > 0 && method !== endless
        open.set(id, {
          timer: timed ? setTimeout(expire, timerMs(timeoutMs), id) : undefined,
          token: tokenOf(params?.['_meta']),
        })
      }
    },
    came(value) {
      if (Array.isArray(value)) {
        for (const entry of value) this.came(entry)
        return true
      }
      const message = readMessage(value)
      if (message.kind === 'response' && message.id !== undefined) {
        return settle(message.id) || !expired.delete(message.id)
      }
      if (message.kind === 'notification' && message.method === 'notifications/progress')
        refresh(tokenOf(message.params))
      return true
    },
    giveUp() {
      for (const id of [...open.keys()]) {
        settle(id)
        answer(errorText(id, gone))
      }
    },
  }
}

/** The progress token in `value`; where there is none, something that equals no other. */
function tokenOf(value: unknown): unknown {
  const token =
    typeof value === 'object' && value !== null && 'progressToken' in value ? value.progressToken : undefined
  return token ?? Symbol('none')
}
