import { isObject, own } from '../model/json.ts'
import type { ElicitUrlParams } from '../model/nouns.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Dialect } from '../peer/calling.ts'
import { maxAsks } from './asked.ts'
import { answered, type Limits } from './answered.ts'
import { isWebAddress, type AnswerUrl } from './answering.ts'
import { deferred } from './deferred.ts'
import type { Listeners } from './listeners.ts'
import type { RequestOptions } from './options.ts'
import { pause } from './sending.ts'

/** A URL that has to be visited before a call can go on, with the name of the visit. */
export type Visit = ElicitUrlParams & { readonly elicitationId: string }

/** What visits are made with. */
export interface VisitsOptions {
  readonly listeners: Listeners
  /** Asks the user; absent where nobody does. */
  readonly visit: AnswerUrl | undefined
  /** Milliseconds that the word of a visit's end is waited for, unless the call says. */
  readonly timeoutMs: number
  dialect(): Dialect | undefined
}

/** The visits that calls are refused for (2025-11-25, client/elicitation, URL elicitation required error). */
export interface Visits {
  /** What `error` wants visited; `undefined` where it is nothing that can be handed to the user. */
  wantedBy(error: unknown): readonly Visit[] | undefined
  /**
   * Asks the user for one visit after the other, and waits until all are over: by the server's word, or the handler's; in
   * default of both for as long as the call is patient. Resolves to whether the user agreed to all.
   * @throws CallFailed `Cancelled`, `TimedOut`: at once when the call ends, whether or not the handler heeds its signal
   */
  made(visits: readonly Visit[], options: Limits & Pick<RequestOptions, 'timeoutMs'>): Promise<boolean>
}

/** Makes the visits of one client. */
export function createVisits({ listeners, visit: ask, timeoutMs, dialect }: VisitsOptions): Visits {
  /** Hears which visits are over, from before the user is asked: it may be over before the handler says yes. */
  function ends(visits: readonly Visit[]): { over(id: string): void; readonly all: Promise<void>; stop(): void } {
    const open = new Set(visits.map(({ elicitationId }) => elicitationId))
    const all = deferred()
    const over = (id: string): void => {
      open.delete(id)
      if (open.size === 0) all.resolve()
    }
    const stop = listeners.add({
      notified({ method, params }) {
        if (method === 'notifications/elicitation/complete') over(params.elicitationId)
      },
    })
    return { over, all: all.promise, stop }
  }

  async function agreed(visit: Visit, signal: AbortSignal, over: () => void): Promise<boolean> {
    const answer = await ask?.(visit, { signal })
    // A promise that fails says nothing of the visit.
    answer?.over?.then(over, () => {})
    return answer?.action === 'accept'
  }

  /** A no stands, whoever meets the refusal later on its way to the caller. */
  const declined = new WeakSet<object>()

  return {
    wantedBy(error) {
      const spoken = dialect()
      if (!ask || !spoken || !isRefusal(error) || error.kind !== 'UrlElicitationRequired') return undefined
      if (!spoken.features.has('url.requiredError')) return undefined
      const wanted = own(error.data ?? {}, 'elicitations')
      if (!Array.isArray(wanted) || wanted.length === 0 || wanted.length > maxAsks || declined.has(wanted))
        return undefined
      return wanted.every(isVisit) ? wanted : undefined
    },
    async made(visits, { timeoutMs: patience = timeoutMs, ...limits }) {
      const ending = ends(visits)
      const visiting = async (stop: AbortSignal): Promise<boolean> => {
        for (const visit of visits) {
          const yes = await agreed(visit, stop, () => ending.over(visit.elicitationId))
          stop.throwIfAborted()
          if (yes) continue
          declined.add(visits)
          return false
        }
        await within(ending.all, patience, stop)
        return true
      }
      return answered(visiting, limits).finally(ending.stop)
    },
  }
}

function isVisit(value: unknown): value is Visit {
  if (!isObject(value)) return false
  const { mode, url, message, elicitationId } = value
  const named = typeof elicitationId === 'string' && typeof message === 'string'
  return mode === 'url' && named && typeof url === 'string' && isWebAddress(url)
}

/** Waits for `end`, but not for long. @throws CallFailed `Cancelled` */
async function within(end: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const enough = new AbortController()
  const stop = AbortSignal.any([signal, enough.signal])
  const ended = end.then(() => 'ended')
  const waited = pause(ms, stop)
  waited.catch(() => {})
  await Promise.race([ended, waited]).finally(() => enough.abort())
}
