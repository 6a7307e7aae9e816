import type { AuthorizationServer } from './server-metadata.ts'

/** The scopes in a space-separated text, each once. */
export function scopesIn(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(' ').filter((scope) => scope !== ''))]
}

/** What decides the scopes to ask for. */
export interface ScopeSources {
  /** Of the challenge that is dealt with. */
  readonly challenged: string | undefined
  /** Of the protected resource's metadata. */
  readonly supported: readonly string[] | undefined
  /** Asked for before, and to be kept. */
  readonly before: readonly string[]
  /** Wanted by the user of the library in any case. */
  readonly always: readonly string[]
  /** Whether a refresh token is wanted, and so `offline_access`. */
  readonly offline: boolean
  readonly server: AuthorizationServer
}

/**
 * The scopes to ask for: those of the challenge, else those that the resource lists, else none; beside them what was
 * asked for before. `offline_access` is asked for only where the authorization server lists it. (Authorization, "Scope
 * Selection Strategy", "Step-Up Authorization Flow", "Refresh Tokens".)
 */
export function selectScopes(sources: ScopeSources): readonly string[] {
  const { challenged, supported, before, always, server } = sources
  const chosen = challenged === undefined ? (supported ?? []) : scopesIn(challenged)
  const all = new Set([...always, ...before, ...chosen])
  if (server.scopes?.includes('offline_access') !== true) all.delete('offline_access')
  else if (sources.offline) all.add('offline_access')
  return [...all]
}
