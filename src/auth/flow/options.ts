import type { Authorization } from '../../model/authorization.ts'
import type { Clock, Logger } from '../../model/ports.ts'
import type { Grant } from './grant.ts'
import type { NetworkOptions } from './network.ts'
import type { RegistrationOptions } from './registration.ts'
import type { TokenStore } from './token-store.ts'

/** How a client gets its tokens. */
export interface OAuthOptions extends RegistrationOptions {
  /** How tokens are had. */
  readonly grant: Grant
  /** Where tokens and registrations are kept. Default: in memory. */
  readonly store?: TokenStore
  /**
   * Names the user, where there are several: tokens are kept per user, and what servers answer to one is not shown to
   * another. Default: nobody else shares what is cached, and tokens are kept as those of one user.
   */
  readonly user?: string
  /** URL of the MCP server. Default: that of the first request. Other origins get no tokens. */
  readonly server?: string
  /** Scopes that are asked for beside those that the server wants. */
  readonly scopes?: readonly string[]
  /** Whether a refresh token is asked for by `offline_access`, where the authorization server has that. Default `true`. */
  readonly offline?: boolean
  /**
   * Whether tokens are bound to a key (DPoP, RFC 9449): always, never, or where the server wants it. A server wants it
   * that challenges by `DPoP` alone, or says in its metadata that tokens must be bound. Default `'wanted'`.
   */
  readonly dpop?: boolean | 'wanted'
  /** What the requests of authorization may reach, and what they may cost. */
  readonly network?: NetworkOptions
  readonly logger?: Logger
  readonly clock?: Clock
}

/** An {@link Authorization} by OAuth. It belongs to one MCP server. */
export interface OAuth extends Authorization {
  /** Revokes and forgets the token, of every process that shares the store. A registration stays. */
  signOut(): Promise<void>
}
