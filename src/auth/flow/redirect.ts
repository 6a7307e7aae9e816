/** Where the browser is sent back to, ready to receive. */
export interface Listening {
  /** The redirect URI, exactly as it is registered and sent. */
  readonly uri: string
  /**
   * Resolves to the parameters that came back with this `state`; what comes with another is passed over, and leaves the
   * wait as it is. Rejects when `signal` is aborted.
   */
  answer(state: string, signal: AbortSignal): Promise<URLSearchParams>
  close(): void | Promise<void>
}

/** A way to hear what an authorization server answers through the browser. */
export interface Redirect {
  /** Makes ready to receive, at one of the URIs that are `registered` where it can. */
  listen(registered: readonly string[]): Promise<Listening>
}

/** A redirect to a page of one's own, which hands over what it receives. */
export interface PageRedirect extends Redirect {
  /** The page was called at `url`. Whether somebody waits for it: a `state` counts once. */
  received(url: string): boolean
}

/** A redirect to `uri`, a page of the application itself: its route calls `received` with the whole URL. */
export function pageRedirect(uri: string): PageRedirect {
  const waiting = new Map<string, (parameters: URLSearchParams) => void>()
  return {
    listen: () =>
      Promise.resolve({
        uri,
        answer(state, signal) {
          const answered = new Promise<URLSearchParams>((resolve) => waiting.set(state, resolve))
          return untilAborted(answered, signal).finally(() => waiting.delete(state))
        },
        close: () => undefined,
      }),
    received(url) {
      if (!URL.canParse(url, uri)) return false
      const { searchParams } = new URL(url, uri)
      const state = searchParams.get('state') ?? ''
      const resolve = waiting.get(state)
      waiting.delete(state)
      resolve?.(searchParams)
      return resolve !== undefined
    },
  }
}

/** `work`, or a rejection with the reason of `signal` once that is aborted. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
