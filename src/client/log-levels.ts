import type { LogLevel } from '../model/nouns.ts'
import type { Logger } from '../model/ports.ts'
import type { Caller } from '../peer/calling.ts'

/** From which severity on a client wants to hear of logs, on whatever session. */
export interface LogLevels {
  readonly level: LogLevel | undefined
  /** Tells a session, where it is sessions that are told. Never rejects: hearing nothing of logs breaks nothing. */
  announce(caller: Caller): Promise<void>
  set(level: LogLevel, caller: Caller): Promise<void>
}

/** Milliseconds. */
const timeoutMs = 30_000

/** Keeps the level of one client. Where each request says it, nothing is announced. */
export function createLogLevels(first: LogLevel | undefined, logger: Logger): LogLevels {
  let level = first
  const tell = async (caller: Caller): Promise<void> => {
    if (level === undefined || !caller.dialect?.features.has('logLevel.session')) return
    await caller.call({ method: 'logging/setLevel', params: { level }, timeoutMs })
  }
  return {
    get level() {
      return level
    },
    announce: (caller) =>
      tell(caller).catch((error: unknown) => logger.warn('the log level could not be set', { error })),
    set(next, caller) {
      level = next
      return tell(caller)
    },
  }
}
