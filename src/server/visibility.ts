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

/**
 * What `key` names for `principal`. Hidden and absent are the same to the caller; only the log tells them apart,
 * with the caller's text as a field of bounded length.
 */
export function findVisible<E extends Scoped>(
  shelf: Shelf<E>,
  key: string,
  principal: Principal | undefined,
  logger: Logger,
): E | undefined {
  const entry = shelf.byKey.get(key)
  if (entry !== undefined && isVisible(entry, principal)) return entry
  logger.debug(entry === undefined ? 'not registered' : 'hidden from the caller', {
    name: quoted(key),
    principal: principal?.id,
  })
  return undefined
}

/** A peer's text as it may stand in a log line: escaped, and cut to 64 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}
