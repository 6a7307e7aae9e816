import type { JsonObject } from './json.ts'

/** The time, in milliseconds since the epoch. */
export type Clock = () => number

/** `length` bytes that nobody can guess. */
export type Random = (length: number) => Uint8Array

/** What belongs to a log message, by name. */
export type LogFields = Readonly<Record<string, unknown>>

/** Where the library reports what its user may want to know. By default nowhere: a library that was not asked prints nothing. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const ignore = (): void => {}

/** A logger that says nothing. */
export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const guards = new WeakMap<Logger, Logger>()

/**
 * A logger that cannot fail: what `logger` throws or rejects with is dropped, so that a log breaks nothing that it only
 * tells of. Without one, and for one that is guarded already, the same.
 */
export function guarded(logger: Logger = silent): Logger {
  if (logger === silent) return logger
  const known = guards.get(logger)
  if (known !== undefined) return known
  const each =
    (level: keyof Logger): Logger['debug'] =>
    (message, fields) => {
      try {
        // Whoever writes it as an async function returns a promise all the same.
        // A console would print fields that are not there.
        const said: unknown = fields === undefined ? logger[level](message) : logger[level](message, fields)
        if (said instanceof Promise) said.catch(ignore)
      } catch {
        // There is nowhere else to tell it.
      }
    }
  const guard = { debug: each('debug'), info: each('info'), warn: each('warn'), error: each('error') }
  guards.set(logger, guard).set(guard, guard)
  return guard
}

/** Text under encryption that only its key's holders can read, and nobody can alter. */
export interface Seal {
  /** There until the seal can be used: resolves then, or rejects when its keys cannot be had just now. */
  readonly loading?: Promise<void> | undefined
  /** Seals `value` for one purpose. @param expiresAt milliseconds since the epoch */
  seal(purpose: SealPurpose, value: JsonObject, expiresAt: number): string
  /** Opens what {@link Seal.seal} made for the same purpose; `undefined` for anything altered or foreign, `'expired'` past its time. */
  open(purpose: SealPurpose, text: string): JsonObject | 'expired' | undefined
}

/** What a text was sealed for. It opens for nothing else. */
export type SealPurpose = 'state' | 'session' | 'cursor' | 'task'
