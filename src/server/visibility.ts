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

/** A peer's text as it may stand in a log line: escaped, and cut to 64 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}
