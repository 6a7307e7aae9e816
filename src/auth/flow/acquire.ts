import type { Client } from './client.ts'
import type { Demand } from './challenge.ts'
import type { Discovered } from './discover.ts'
import { createProofKey, restoreProofKey, takesProofs, type ProofKey } from './dpop.ts'
import { unauthorized } from './failure.ts'
import { obtain } from './grant.ts'
import type { GrantContext } from './grant-context.ts'
import { toHeld, type Held } from './held.ts'
import type { OAuthOptions } from './options.ts'
import { clientFor, forgetClient, registeredRedirects, type Registrar } from './registration.ts'
import { selectScopes } from './scopes.ts'
import { TokenRefused } from './token-request.ts'

/**
 * Gets a token at `found.server`. A registration that the server has forgotten is made anew, once.
 * @param held the token before, whose scopes and key are kept where it is from the same server
 * @param signal aborted once nobody waits for it: then no user is asked any more
 * @throws CallFailed `Unauthorized` where none can be had
 */
export async function acquire(
  options: OAuthOptions,
  registrar: Registrar,
  found: Discovered,
  demand: Demand,
  held: Held | undefined,
  signal: AbortSignal,
): Promise<Held> {
  const { server, resource } = found
  const before = held?.issuer === server.issuer ? held : undefined
  const asked = selectScopes({
    challenged: demand.scope,
    supported: resource?.scopes,
    before: before?.asked ?? [],
    always: options.scopes ?? [],
    offline: options.offline !== false && options.grant.type === 'authorization_code',
    server,
  })
  const proofKey = await proofKeyFor(options, found, demand, before)
  let client: Client | undefined
  const context: GrantContext = {
    fetcher: registrar.fetcher,
    server,
    target: {
      issuer: server.issuer,
      resource: resource?.resource,
      scope: asked.length === 0 ? undefined : asked.join(' '),
    },
    proofKey,
    signal,
    client: async (redirectUri) => (client = await clientFor(registrar, server, redirectUri)),
    registered: () => registeredRedirects(registrar, server.issuer),
    forget: (gone) => forgetClient(registrar, server.issuer, gone),
  }
  const granted = await obtain(options.grant, context).catch(async (error: unknown) => {
    const forgotten = error instanceof TokenRefused && error.code === 'invalid_client' && client !== undefined
    if (forgotten && (await context.forget(client as Client))) return obtain(options.grant, context)
    throw error
  })
  if ((granted.tokens.type === 'dpop') !== (proofKey !== undefined))
    throw unauthorized(`${server.issuer} issued a ${granted.tokens.type} token, which is not what was asked for`)
  const basis = {
    issuer: server.issuer,
    found: server.found,
    resource: resource?.resource,
    client: granted.client,
    asked,
  }
  return toHeld(granted.tokens, { ...basis, proofKey: proofKey?.kept }, registrar.now())
}

async function proofKeyFor(
  { dpop = 'wanted' }: OAuthOptions,
  { server, resource }: Discovered,
  demand: Demand,
  before: Held | undefined,
): Promise<ProofKey | undefined> {
  const wanted = dpop === 'wanted' ? demand.dpop || resource?.dpopRequired === true : dpop
  if (!wanted) return undefined
  if (!takesProofs(server)) throw unauthorized(`${server.issuer} takes no DPoP proofs by ES256`)
  return before?.proofKey === undefined ? createProofKey() : restoreProofKey(before.proofKey)
}
