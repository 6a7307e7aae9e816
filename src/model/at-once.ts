import type { PutOptions, Store, Versioned } from './store.ts'

/** What may come at once or later. */
export type Awaitable<T> = T | Promise<T>

/** The values of a store, at once or later; what a store rejects with is thrown by one that does it at once. */
export interface Values {
  get(key: string): Awaitable<Versioned | undefined>
  put(key: string, value: string, options?: PutOptions): Awaitable<number | undefined>
  delete(key: string, ifVersion?: number): Awaitable<boolean>
}

const known = new WeakMap<Store, Values>()

/** Notes how `store` is reached without waiting. Only for this very store: one that is put around it is another. */
export function answersAtOnce(store: Store, values: Values): Store {
  known.set(store, values)
  return store
}

/** The values of `store`, at once where it can. */
export function valuesOf(store: Store): Values {
  return known.get(store) ?? store
}

/** Whether a value is still to come. */
export function isLater<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | undefined)?.then === 'function'
}

/** Goes on with a value: now if it is there, else once it is. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isLater(value) ? value.then(next) : next(value)
}
