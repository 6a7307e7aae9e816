import { isCallFailed } from '../model/failure.ts'
import { whenAborted } from './lifetimes.ts'
import type { Member, ServerTool } from './member.ts'
import type { ClientOptions } from './options.ts'
import { defaultRetry } from './retrying.ts'
import { pause } from './sending.ts'

const defaultDebounceMs = 100

/**
 * The lists of many servers as one, each time that it is another. What comes in a moment is told at once, and a server
 * that takes long does not keep the others waiting.
 */
export async function* watchAll(
  members: readonly Member[],
  merged: (lists: readonly (readonly ServerTool[])[]) => readonly ServerTool[],
  signals: readonly AbortSignal[],
  { debounceMs = defaultDebounceMs, retry }: ClientOptions,
): AsyncGenerator<readonly ServerTool[], void, undefined> {
  const stop = new AbortController()
  const onAbort = (): void => {
    stop.abort()
    wake()
  }
  let wake = (): void => {}
  let isNew = members.length === 0
  let running = members.length
  const latest = new Map<Member, readonly ServerTool[]>()
  const settings: Following = {
    signal: stop.signal,
    retry: { ...defaultRetry, ...retry },
    take(member, tools) {
      if (tools.length === 0 && latest.get(member)?.length === 0) return
      latest.set(member, tools)
      isNew = true
      wake()
    },
  }
  const waits = signals.map((signal) => whenAborted(signal, onAbort))
  for (const member of members) {
    void follow(member, settings).finally(() => {
      running -= 1
      wake()
    })
  }
  try {
    while (!stop.signal.aborted) {
      if (isNew) {
        await pause(running > 0 ? debounceMs : 0, stop.signal).catch(() => {})
        if (stop.signal.aborted) return
        isNew = false
        yield merged(members.map((member) => latest.get(member) ?? []))
      } else if (running === 0) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    for (const stopWaiting of waits) stopWaiting()
    stop.abort()
  }
}

interface Following {
  readonly signal: AbortSignal
  readonly retry: typeof defaultRetry
  take(member: Member, tools: readonly ServerTool[]): void
}

/** Watches one server, and comes back to it ever more slowly while it fails. Resolves once it will tell nothing more. */
async function follow(member: Member, { signal, retry, take }: Following): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      const client = await member.client({ signal })
      for await (const list of client.watch('tools', { signal })) {
        failures = 0
        take(member, member.take(list))
      }
      return
    } catch (error) {
      if (signal.aborted) return
      member.fail(error)
      take(member, [])
      failures += 1
      const asked = isCallFailed(error) && error.retryAfter !== undefined ? error.retryAfter * 1_000 : 0
      const wait = Math.max(asked, Math.min(retry.maxDelayMs, retry.delayMs * 2 ** failures))
      await pause(wait * (1 + Math.random() / 10), signal).catch(() => {})
    }
  }
}
