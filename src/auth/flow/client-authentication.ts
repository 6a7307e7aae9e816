import { ClientSecretPost, None, PrivateKeyJwt, type ClientAuth } from 'oauth4webapi'
import type { JWK } from 'jose'
import { importJWK, importPKCS8 } from 'jose/key/import'
import type { webcrypto } from 'node:crypto'
import { methodOf, type Client } from './client.ts'
import { unauthorized } from './failure.ts'

/**
 * How `client` says who it is at a token endpoint that takes the `listed` methods (RFC 6749 §2.3, RFC 7523 §2.2: the
 * audience of an assertion is the issuer).
 * @throws CallFailed `Unauthorized` where it has not what its method takes
 */
export async function authenticationOf(client: Client, listed: readonly string[] | undefined): Promise<ClientAuth> {
  const method = methodOf(client, listed)
  if (method === 'none') return None()
  if (method === 'private_key_jwt') {
    const key = await keyOf(client)
    return PrivateKeyJwt(client.keyId === undefined ? key : { key, kid: client.keyId })
  }
  if (client.secret === undefined) throw unauthorized(`The client ${client.id} has no secret for ${method}`)
  return method === 'client_secret_post' ? ClientSecretPost(client.secret) : basic(client.secret)
}

/**
 * HTTP Basic, with both parts form-encoded first (RFC 6749 §2.3.1). What the encoding need not touch it does not, since
 * there are servers that do not decode: the library would write `-` as `%2D`.
 */
function basic(secret: string): ClientAuth {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)
  return (_server, { client_id: id }, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${encode(id)}:${encode(secret)}`)}`)
  }
}

async function keyOf({ id, privateKey, algorithm }: Client): Promise<webcrypto.CryptoKey> {
  if (privateKey === undefined) throw unauthorized(`The client ${id} has no private key for private_key_jwt`)
  if (typeof privateKey === 'string') return importPKCS8(privateKey, algorithm ?? 'ES256')
  if ('usages' in privateKey) return privateKey as webcrypto.CryptoKey
  const jwk = privateKey as JWK
  const key = await importJWK(jwk, algorithm ?? jwk.alg ?? 'ES256')
  if (key instanceof Uint8Array) throw unauthorized(`The key of the client ${id} is no private key`)
  return key
}
