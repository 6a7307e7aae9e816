import type { webcrypto } from 'node:crypto'
import type { JsonObject } from '../../model/json.ts'
import { numberOf, textOf } from './json.ts'

/** How a client says at the token endpoint who it is. */
export type TokenEndpointMethod = 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'

/** A key that signs: PEM (PKCS #8), JWK, or a `CryptoKey`. */
export type SigningKey = string | JsonObject | webcrypto.CryptoKey

/** What a client knows itself by, had from the operator of an authorization server. */
export interface ClientCredentials {
  readonly id: string
  /**
   * Issuer of the authorization server that they were had from. Left out, they are bound to the first one they are used
   * with. They are never sent to another.
   */
  readonly issuer?: string
  readonly secret?: string
  /** Signs assertions (`private_key_jwt`), which beats a secret. */
  readonly privateKey?: SigningKey
  /** JWS algorithm of the key. Default: that of the JWK or CryptoKey, else `ES256`. */
  readonly algorithm?: string
  /** `kid` in the header of assertions. */
  readonly keyId?: string
  /** Default: by what is here, and what the server takes. */
  readonly method?: TokenEndpointMethod
}

/** Where a client's identity is from. */
export type ClientOrigin = 'configured' | 'document' | 'registered'

/** A client at one authorization server. */
export interface Client extends ClientCredentials {
  readonly origin: ClientOrigin
  readonly redirectUris?: readonly string[]
  /** When the secret ends, in milliseconds since the epoch. */
  readonly expiresAt?: number
}

/** The methods of the server that we speak. Where it lists none, it speaks basic (RFC 8414 §2). */
export function methodOf(client: Client, listed: readonly string[] | undefined): TokenEndpointMethod {
  if (client.method !== undefined && !(client.secret === undefined && client.method.startsWith('client_secret')))
    return client.method
  if (client.privateKey !== undefined) return 'private_key_jwt'
  if (client.secret === undefined) return 'none'
  const basic = listed === undefined || listed.includes('client_secret_basic') || !listed.includes('client_secret_post')
  return basic ? 'client_secret_basic' : 'client_secret_post'
}

const methods: readonly string[] = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']

/** `text` as a method, or undefined where it is one that we do not speak. */
export function toMethod(text: string | undefined): TokenEndpointMethod | undefined {
  return methods.includes(text ?? '') ? (text as TokenEndpointMethod) : undefined
}

/**
 * A client as it is kept. The keys and secrets of configured clients stay in the configuration.
 */
export function clientToJson({ id, origin, ...client }: Client): JsonObject {
  if (origin !== 'registered') return { id, origin }
  const { secret, method, redirectUris, expiresAt } = client
  return { id, origin, secret, method, redirectUris, expiresAt }
}

/** What {@link clientToJson} made, or undefined. */
export function clientFromJson(json: JsonObject): Client | undefined {
  const [id, origin, secret, redirectUris] = [
    textOf(json, 'id'),
    textOf(json, 'origin'),
    textOf(json, 'secret'),
    json.redirectUris,
  ]
  const [method, expiresAt] = [toMethod(textOf(json, 'method')), numberOf(json, 'expiresAt')]
  if (id === undefined || (origin !== 'configured' && origin !== 'document' && origin !== 'registered'))
    return undefined
  return {
    id,
    origin,
    ...(secret !== undefined && { secret }),
    ...(method !== undefined && { method }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(Array.isArray(redirectUris) && { redirectUris: redirectUris.map(String) }),
  }
}
