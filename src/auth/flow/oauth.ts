import { randomUUID } from 'node:crypto'
import type { AuthorizedRequest, Challenge } from '../../model/authorization.ts'
import { guarded } from '../../model/ports.ts'
import { readDemand } from './challenge.ts'
import { restoreProofKey, type ProofKey } from './dpop.ts'
import { unauthorized } from './failure.ts'
import type { Held } from './held.ts'
import type { OAuth, OAuthOptions } from './options.ts'
import { createSession, type Session } from './session.ts'

/**
 * An authorization by OAuth 2.1 for one MCP server, as every revision has it: it finds the authorization server, becomes
 * known to it, gets a token, and renews and widens it as the server asks.
 *
 * Its failures are `CallFailed`: `Unauthorized` with the reason in words, or `Unreachable` where another try may help.
 * @throws TypeError for a `server` that is no URL, or a `clientDocument` that is none of https with a path
 */
export function oauth(options: OAuthOptions): OAuth {
  check(options)
  const logger = guarded(options.logger)
  let session: Session | undefined
  let nonce: string | undefined
  let proofKey: { readonly of: Held['proofKey']; readonly key: Promise<ProofKey> } | undefined
  /** The session of the server, where the request is to it. */
  const sessionOf = ({ url }: AuthorizedRequest): Session | undefined => {
    session ??= createSession(new URL(options.server ?? url), options)
    return new URL(url).origin === session.server.origin ? session : undefined
  }
  const keyOf = (kept: NonNullable<Held['proofKey']>): Promise<ProofKey> => {
    if (proofKey?.of !== kept) proofKey = { of: kept, key: restoreProofKey(kept) }
    return proofKey.key
  }
  return {
    context: options.user === undefined ? `oauth ${randomUUID()}` : `oauth ${options.user}`,
    async headers(request) {
      const held = await sessionOf(request)?.token()
      if (held === undefined) return {}
      if (held.type === 'bearer') return { authorization: `Bearer ${held.accessToken}` }
      if (held.proofKey === undefined) throw unauthorized('The token is bound to a key that is not there')
      const proof = await (await keyOf(held.proofKey)).prove(request, held.accessToken, nonce)
      return { authorization: `DPoP ${held.accessToken}`, dpop: proof }
    },
    async challenged({ status, header, signal, revision, ...request }: Challenge) {
      const session = sessionOf(request)
      if (session === undefined) return false
      session.speaks(revision)
      const [demand, fresh] = [readDemand(header('www-authenticate')), header('dpop-nonce')]
      if (demand.error === 'use_dpop_nonce' && fresh !== undefined && session.limits.nonce()) {
        nonce = fresh
        return true
      }
      nonce = fresh ?? nonce
      logger.debug('The server asks for authorization', { status, ...demand })
      if (status === 401) return session.replace(demand, signal)
      return status === 403 && demand.error === 'insufficient_scope' ? session.widen(demand, signal) : false
    },
    answered(request, header) {
      const session = sessionOf(request)
      if (session === undefined) return
      nonce = header('dpop-nonce') ?? nonce
      session.accepted()
    },
    async signOut() {
      await session?.signOut()
    },
  }
}

function check({ server, clientDocument }: OAuthOptions): void {
  if (server !== undefined && !URL.canParse(server)) throw new TypeError('server is no URL')
  if (clientDocument !== undefined && !/^https:\/\/[^/?#]+\/[^#]/.test(clientDocument))
    throw new TypeError('clientDocument must be a URL of https with a path')
}
