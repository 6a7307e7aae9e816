import { CallFailed } from '../model/failure.ts'

/** What waits for signals. A signal of the user's has one listener of ours, however many calls it is given to. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

const nothing = (): void => {}

/** Runs `run` once `signal` is aborted, which may be at once. Returns the way to wait no more. */
export function whenAborted(signal: AbortSignal | undefined, run: () => void): () => void {
  if (!signal) return nothing
  if (signal.aborted) {
    run()
    return nothing
  }
  const all = waiting.get(signal) ?? listenTo(signal)
  // The same function may wait twice.
  const one = (): void => run()
  all.add(one)
  return () => {
    if (!all.delete(one) || all.size > 0 || waiting.get(signal) !== all) return
    waiting.delete(signal)
    signal.removeEventListener('abort', fire)
  }
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>()
  waiting.set(signal, all)
  signal.addEventListener('abort', fire, { once: true })
  return all
}

function fire({ target }: Event): void {
  const signal = target as AbortSignal
  const all = waiting.get(signal)
  waiting.delete(signal)
  for (const run of all ?? []) run()
}

/** What a signal's end comes to. It says so where that is the end of the client. */
export function cancelledBy(signal: AbortSignal | undefined, ran: 'no' | 'unknown'): CallFailed {
  const reason: unknown = signal?.reason
  const message = reason instanceof Closed ? reason.message : 'The call was cancelled'
  return new CallFailed('Cancelled', { ran, message, cause: reason })
}

/** Why everything ends that a client does. */
class Closed extends Error {
  override readonly name = 'Closed'
  constructor() {
    super('The client was closed')
  }
}

/** `promise`, but no longer than `signal` lets one wait. @throws CallFailed `Cancelled` */
export function heeding<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const stop = whenAborted(signal, () => reject(cancelledBy(signal, 'no')))
    promise.then(resolve, reject).finally(stop)
  })
}

/** Something that a client does for a while. */
export interface Lifetime {
  /** Aborted with the signal of who asked for it, when the client closes, and by {@link Lifetime.end}. */
  readonly signal: AbortSignal
  end(reason: unknown): void
  /** It is over, so that no signal matters to it any more. */
  done(): void
}

/** All that one client does, which ends with it. */
export interface Lifetimes {
  begin(signal: AbortSignal | undefined): Lifetime
  /** Does `work` under a signal of its own. */
  within<O extends { readonly signal?: AbortSignal }, T>(given: O, work: (given: O) => Promise<T>): Promise<T>
  /** The client closes. */
  end(): void
}

/** Makes the lifetimes of one client. */
export function createLifetimes(): Lifetimes {
  const live = new Set<AbortController>()
  const own = new WeakSet<AbortSignal>()
  let closed: Closed | undefined

  function begin(signal: AbortSignal | undefined): Lifetime {
    const controller = new AbortController()
    own.add(controller.signal)
    if (closed) controller.abort(closed)
    else live.add(controller)
    const stop = whenAborted(signal, () => controller.abort(signal?.reason))
    return {
      signal: controller.signal,
      end: (reason) => controller.abort(reason),
      done() {
        live.delete(controller)
        stop()
      },
    }
  }

  return {
    begin,
    async within(given, work) {
      // What is part of something longer ends with that.
      if (given.signal && own.has(given.signal)) return work(given)
      const { signal, done } = begin(given.signal)
      try {
        return await work({ ...given, signal })
      } finally {
        done()
      }
    },
    end() {
      closed ??= new Closed()
      for (const controller of live) controller.abort(closed)
      live.clear()
    },
  }
}
