import type { Principal } from '../model/notification.ts'
import type { Logger } from '../model/ports.ts'
import type { Shelf } from './registry.ts'

/** Anything that may be hidden from somebody. */
export interface Scoped {
  readonly scopes: readonly string[] | undefined
}

/** Whether `principal` sees a primitive: it holds every scope that was asked for. The one place that decides. */
export function isVisible({ scopes }: Scoped, principal: Principal | undefined): boolean {
  return scopes === undefined || (principal !== undefined && scopes.every((scope) => principal.scopes.has(scope)))
}

/** What `key` names for `principal`. Hidden and absent are the same. */
export function findVisible<E extends Scoped>(
  shelf: Shelf<E>,
  key: string,
  principal: Principal | undefined,
): E | undefined {
  const entry = shelf.byKey.get(key)
  return entry !== undefined && isVisible(entry, principal) ? entry : undefined
}

/** As {@link findVisible}, for a caller: what it cannot have is told to the log, see {@link logMissing}. */
export function lookUp<E extends Scoped>(
  shelf: Shelf<E>,
  key: string,
  principal: Principal | undefined,
  logger: Logger,
): E | undefined {
  const entry = findVisible(shelf, key, principal)
  if (entry === undefined) logMissing(key, shelf.byKey.has(key), principal, logger)
  return entry
}

/** Tells the log, and it alone, whether what a caller asked for is hidden from it or absent. `key` is the caller's text. */
export function logMissing(key: string, hidden: boolean, principal: Principal | undefined, logger: Logger): void {
  logger.debug(hidden ? 'hidden from the caller' : 'not registered', { name: quoted(key), principal: principal?.id })
}

/** What is written in a log as it stands: no quote is among it, so that nothing passes for text that was escaped. */
const isPlain = new Uint8Array(128)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@ ') {
  isPlain[character.charCodeAt(0)] = 1
}

/** A peer's text as it may stand in a log line: plain where that is harmless, else escaped, and cut to 64 characters. */
export function quoted(text: string): string {
  if (text.length > 64) return escaped(`${text.slice(0, 64)}…`)
  // By hand: a regular expression takes several times as long, on every call that is logged.
  for (let at = 0; at < text.length; at++) if (isPlain[text.charCodeAt(at)] !== 1) return escaped(text)
  return text === '' ? '""' : text
}

function escaped(text: string): string {
  // JSON leaves alone what some terminals and readers of lines obey.
  return JSON.stringify(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (odd) =>
    odd
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
