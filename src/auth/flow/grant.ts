import { authorizationCode } from './authorization-code.ts'
import type { ClientCredentials } from './client.ts'
import { enterpriseManaged } from './enterprise-managed.ts'
import type { GrantContext, Granted } from './grant-context.ts'
import type { Redirect } from './redirect.ts'
import { requestTokens } from './token-request.ts'

/** Who is asked for what, told to the user and to makers of assertions. */
export interface AuthorizationTarget {
  /** Issuer of the authorization server: the audience of assertions. */
  readonly issuer: string
  /** The MCP server, as it names itself; left out by servers of 2025-03-26. */
  readonly resource: string | undefined
  /** Separated by spaces. */
  readonly scope: string | undefined
}

/** The user agrees in a browser (authorization code with PKCE). */
export interface AuthorizationCodeGrant {
  readonly type: 'authorization_code'
  /**
   * Brings the user to `url`, which is `https`, or `http` on this machine. A command line prints it, with what it is for,
   * and opens it in a browser without a shell in between.
   */
  readonly open: (url: string, target: AuthorizationTarget) => void | Promise<void>
  /** Where the browser is sent back to. Default: `loopbackRedirect()`. */
  readonly redirect?: Redirect
  /** Milliseconds that the user may take. Default 5 minutes. */
  readonly timeoutMs?: number
}

/** The client acts for itself, by a secret or a key (extension `oauth-client-credentials`). Takes `client`. */
export interface ClientCredentialsGrant {
  readonly type: 'client_credentials'
}

/** A workload identity or another assertion stands for the client (RFC 7523 §2.1). A refusal is final. */
export interface JwtBearerGrant {
  readonly type: 'jwt_bearer'
  /** A JWT whose audience is the issuer of the target. Called for each token. */
  readonly assertion: (target: AuthorizationTarget) => string | Promise<string>
}

/**
 * The identity provider of an enterprise decides (extension `enterprise-managed-authorization`): the user's identity is
 * exchanged there for an assertion, and that for a token. Takes `client`, which is this client at the MCP server's
 * authorization server.
 */
export interface EnterpriseManagedGrant {
  readonly type: 'enterprise_managed'
  /** Token endpoint of the identity provider. */
  readonly tokenEndpoint: string
  /** Issuer of the identity provider. Default: the origin of its token endpoint. */
  readonly issuer?: string
  /** This client at the identity provider. */
  readonly client: ClientCredentials
  /** The user's identity, as it was had at sign-on. Called for each token. */
  readonly subjectToken: () => string | Promise<string>
  /** Default `urn:ietf:params:oauth:token-type:id_token`. */
  readonly subjectTokenType?: string
}

/** How tokens are had. */
export type Grant = AuthorizationCodeGrant | ClientCredentialsGrant | JwtBearerGrant | EnterpriseManagedGrant

/** Tokens by `grant`. @throws TokenRefused @throws CallFailed */
export async function obtain(grant: Grant, context: GrantContext): Promise<Granted> {
  switch (grant.type) {
    case 'authorization_code':
      return authorizationCode(grant, context)
    case 'client_credentials':
      return direct(context, 'client_credentials', {})
    case 'jwt_bearer':
      return direct(context, jwtBearer, { assertion: await grant.assertion(context.target) })
    case 'enterprise_managed':
      return direct(context, jwtBearer, { assertion: await enterpriseManaged(grant, context) })
  }
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

async function direct(
  { fetcher, server, target, proofKey, client }: GrantContext,
  grantType: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Granted> {
  const known = await client(undefined)
  const { resource, scope } = target
  const all = { ...parameters, resource, scope }
  return {
    client: known,
    tokens: await requestTokens(fetcher, { server, client: known, grantType, parameters: all, proofKey }),
  }
}
