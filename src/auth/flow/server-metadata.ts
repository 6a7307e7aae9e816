import { own, type JsonObject } from '../../model/json.ts'
import { unauthorized } from './failure.ts'
import type { Fetcher } from './fetcher.ts'
import { textOf, textsOf } from './json.ts'
import { readMetadata } from './read-metadata.ts'

/** An authorization server, as far as a client has to know it (RFC 8414, OpenID Connect Discovery 1.0). */
export interface AuthorizationServer {
  readonly issuer: string
  /** Where its metadata was had from: `'none'` is a server of 2025-03-26 with the endpoints of that revision. */
  readonly found: 'issuer' | 'origin' | 'none'
  readonly authorizationEndpoint: string | undefined
  readonly tokenEndpoint: string
  readonly registrationEndpoint: string | undefined
  readonly revocationEndpoint: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly grantTypes: readonly string[] | undefined
  readonly tokenMethods: readonly string[] | undefined
  readonly challengeMethods: readonly string[] | undefined
  readonly dpopAlgorithms: readonly string[] | undefined
  /** Whether it says in authorization responses who it is (RFC 9207). */
  readonly namesIssuer: boolean
  /** Whether it reads client id metadata documents. */
  readonly readsClientDocuments: boolean
}

/**
 * The metadata of the authorization server `issuer`: by RFC 8414 with the path inserted, by OpenID Connect Discovery with
 * the path inserted, then with it before. The first document that is there decides.
 * @throws CallFailed `Unauthorized` where there is none, or its `issuer` is not the same text (RFC 8414 §3.3)
 */
export async function readAuthorizationServer(fetcher: Fetcher, issuer: string): Promise<AuthorizationServer> {
  const url = fetcher.guard.url(issuer, 'The issuer')
  if (url.search !== '' || url.hash !== '') throw unauthorized(`The issuer ${issuer} has a query or fragment`)
  const path = url.pathname.replace(/\/$/, '')
  const addresses = [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${url.origin}${path}/.well-known/openid-configuration`]),
  ]
  for (const address of addresses) {
    const document = await readMetadata(fetcher, address, 'issuer')
    if (document === 'none') continue
    if (own(document, 'issuer') !== issuer)
      throw unauthorized(`${address} is not the metadata of ${issuer}`, { data: { issuer: own(document, 'issuer') } })
    return toServer(document, issuer, 'issuer', address)
  }
  throw unauthorized(`${issuer} publishes no metadata`)
}

/**
 * The authorization server of an MCP server without resource metadata, which is the server itself, as 2025-03-26 has it:
 * metadata at its origin, else the default endpoints there.
 */
export async function readOwnAuthorizationServer(fetcher: Fetcher, { origin }: URL): Promise<AuthorizationServer> {
  const address = `${origin}/.well-known/oauth-authorization-server`
  const document = await readMetadata(fetcher, address, 'server')
  if (document === 'none')
    return toServer(
      {
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
      },
      origin,
      'none',
      origin,
    )
  const issuer = own(document, 'issuer')
  // An origin is written with and without its slash, and here nobody wrote it.
  if (issuer !== origin && issuer !== `${origin}/`)
    throw unauthorized(`${address} is not the metadata of ${origin}`, { data: { issuer } })
  return toServer(document, issuer, 'origin', address)
}

function toServer(
  document: JsonObject,
  issuer: string,
  found: AuthorizationServer['found'],
  address: string,
): AuthorizationServer {
  const tokenEndpoint = textOf(document, 'token_endpoint')
  if (tokenEndpoint === undefined) throw unauthorized(`${address} names no token endpoint`)
  return {
    issuer,
    found,
    tokenEndpoint,
    authorizationEndpoint: textOf(document, 'authorization_endpoint'),
    registrationEndpoint: textOf(document, 'registration_endpoint'),
    revocationEndpoint: textOf(document, 'revocation_endpoint'),
    scopes: textsOf(document, 'scopes_supported'),
    grantTypes: textsOf(document, 'grant_types_supported'),
    tokenMethods: textsOf(document, 'token_endpoint_auth_methods_supported'),
    challengeMethods: textsOf(document, 'code_challenge_methods_supported'),
    dpopAlgorithms: textsOf(document, 'dpop_signing_alg_values_supported'),
    namesIssuer: own(document, 'authorization_response_iss_parameter_supported') === true,
    readsClientDocuments: own(document, 'client_id_metadata_document_supported') === true,
  }
}
