import type { Clock } from '../model/ports.ts'
import type { LogEntry, Store } from '../model/store.ts'

/** Where events are kept, how many, and how long. */
export interface EventLogOptions {
  readonly store: Store
  readonly clock: Clock
  /** The log keeps this many events. */
  readonly maxEvents: number
  /** The log keeps this many bytes of them. Default 4 MiB. */
  readonly maxBytes?: number
  /** Milliseconds that an event is kept; the whole log goes as long after its last one. */
  readonly keepMs: number
  /** Hears of an event that the store did not take; whoever resumes later is told of the gap. */
  readonly onLost: (error: unknown) => void
}

/** One event as it was kept. */
export interface LoggedEvent {
  readonly sequence: number
  readonly text: string
  /** Nothing follows it. */
  readonly final: boolean
}

/** The events after the one asked for, oldest first. */
export interface EventPage {
  readonly events: readonly LoggedEvent[]
  /** Whether events after the one asked for are gone already. */
  readonly gap: boolean
}

/** The events of one stream, written by one process and read by any. */
export interface EventLog {
  /** The number of the newest event; 0 before the first. */
  readonly sequence: number
  /** Numbers an event at once and stores it behind the scenes, in order. @returns its number */
  append(text: string, final: boolean): number
  /** The events after `sequence`, once all that was appended so far is stored. */
  read(after: number): Promise<EventPage>
  /** Resolves once all that was appended so far is stored, or given up. */
  stored(): Promise<void>
}

/** Opens a log for writing. No other writer may use `name`. */
export function createEventLog(name: string, options: EventLogOptions): EventLog {
  const { store, clock, maxEvents, maxBytes = 4 * 1024 * 1024, keepMs, onLost } = options
  let sequence = 0
  let stored: Promise<void> = Promise.resolve()
  const put = async (value: string): Promise<void> => {
    await store.append(name, value, {
      maxEntries: maxEvents,
      maxBytes,
      maxAgeMs: keepMs,
      expiresAt: clock() + keepMs,
    })
  }
  return {
    get sequence() {
      return sequence
    },
    append(text, final) {
      sequence += 1
      const value = `${final ? 'f' : 'm'}${sequence} ${text}`
      stored = stored.then(() => put(value)).catch(onLost)
      return sequence
    },
    async read(after) {
      await stored
      return (await readEvents(name, store, after)) ?? { events: [], gap: false }
    },
    stored: () => stored,
  }
}

/**
 * The events of a log after `after`, from any process. Events carry their own number, so that one the store did not
 * take leaves a visible hole. `undefined`: there is no such log, or no longer.
 */
export async function readEvents(name: string, store: Store, after: number): Promise<EventPage | undefined> {
  const { entries } = await store.read(name, 0)
  return entries.length === 0 ? undefined : pageOf(entries, after)
}

function pageOf(entries: readonly LogEntry[], after: number): EventPage {
  const events: LoggedEvent[] = []
  let expected = after + 1
  let gap = false
  for (const { value } of entries) {
    const space = value.indexOf(' ')
    const sequence = Number(value.slice(1, space))
    if (sequence <= after) continue
    if (sequence !== expected) gap = true
    expected = sequence + 1
    events.push({ sequence, text: value.slice(space + 1), final: value.startsWith('f') })
  }
  return { events, gap }
}
