import type { Client } from './client.ts'
import type { ProofKey } from './dpop.ts'
import type { Fetcher } from './fetcher.ts'
import type { AuthorizationTarget } from './grant.ts'
import type { AuthorizationServer } from './server-metadata.ts'
import type { Tokens } from './token-request.ts'

/** What a grant works with. */
export interface GrantContext {
  readonly fetcher: Fetcher
  readonly server: AuthorizationServer
  readonly target: AuthorizationTarget
  /** There where tokens are to be bound to a key. */
  readonly proofKey: ProofKey | undefined
  /** Aborted once nobody waits for the tokens. */
  readonly signal: AbortSignal
  /** The client at the server, registered with `redirectUri` where that has to be. */
  client(redirectUri: string | undefined): Promise<Client>
  /** Redirect URIs that are registered already. */
  registered(): Promise<readonly string[]>
  /** Lets go of a registration that the server does not know any more. Resolves to whether there was one. */
  forget(client: Client): Promise<boolean>
}

/** What a grant came to, and whose it is. */
export interface Granted {
  readonly tokens: Tokens
  readonly client: Client
}
