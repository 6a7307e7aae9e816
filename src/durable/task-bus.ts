import type { Logger } from '../model/ports.ts'
import type { TaskStatus } from '../model/nouns.ts'
import type { Store } from '../model/store.ts'
import { timerMs } from '../model/timer.ts'

/** That a task changed: whose, which, and how it stood then. */
export interface TaskNews {
  readonly owner: string
  readonly id: string
  readonly status: TaskStatus
}

/** Waits for news of one task, also for those that came since it last waited. */
export interface Ear {
  /**
   * Resolves at the next news, or after `ms`, or once `signal` aborts. `idly`: nobody's answer depends on it, so it does
   * not keep the process alive.
   */
  next(ms: number, signal: AbortSignal, idly?: 'idly'): Promise<void>
  close(): void
}

/** Carries news of tasks within the process and to all others on the same store. */
export interface TaskBus {
  /** Tells everybody; best effort, since whoever waits looks for itself from time to time. */
  tell(news: TaskNews): Promise<void>
  ear(id: string): Ear
  /** Begins to listen to the other processes. */
  listen(): void
}

const channel = 'tasks'

/** @param onNews called once for all news that came over the store, those of this process among them */
export function createTaskBus(
  { store, logger }: { readonly store: Store; readonly logger: Logger },
  onNews: (news: TaskNews) => void,
): TaskBus {
  const ears = new Map<string, Set<() => void>>()
  let listening: Promise<unknown> | undefined

  function wake(id: string): void {
    for (const wakeOne of ears.get(id) ?? []) wakeOne()
  }

  function listen(): void {
    listening ??= store
      .subscribe(
        channel,
        (message) => {
          // Written by `tell` alone: the channel is the library's own.
          const news = JSON.parse(message) as TaskNews
          wake(news.id)
          onNews(news)
        },
        () => [...ears.keys()].forEach(wake),
      )
      .catch((error: unknown) => {
        listening = undefined
        logger.warn('changes of tasks cannot be heard of; they will be looked for', { error })
      })
  }

  async function tell(news: TaskNews): Promise<void> {
    listen()
    await listening
    wake(news.id)
    await store
      .publish(channel, JSON.stringify(news))
      .catch((error: unknown) => logger.warn('a change of a task could not be told', { error }))
  }

  function ear(id: string): Ear {
    listen()
    let heard = false
    let waiting: (() => void) | undefined
    const onWake = (): void => {
      heard = true
      waiting?.()
    }
    const all = ears.get(id) ?? new Set()
    ears.set(id, all.add(onWake))
    return {
      next: async (ms, signal, idly) => {
        if (!heard && !signal.aborted) {
          const stop = new AbortController()
          await new Promise<void>((resolve) => {
            waiting = resolve
            signal.addEventListener('abort', () => resolve(), { once: true, signal: stop.signal })
            const timer = setTimeout(resolve, timerMs(ms))
            if (idly) timer.unref()
            stop.signal.addEventListener('abort', () => clearTimeout(timer))
          })
          stop.abort()
        }
        heard = false
      },
      close: () => {
        all.delete(onWake)
        if (all.size === 0 && ears.get(id) === all) ears.delete(id)
      },
    }
  }

  return { tell, ear, listen }
}
