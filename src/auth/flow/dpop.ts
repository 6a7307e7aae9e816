import { DPoP, type DPoPHandle } from 'oauth4webapi'
import type { CryptoKey, JWK } from 'jose'
import { SignJWT } from 'jose/jwt/sign'
import { exportJWK } from 'jose/key/export'
import { generateKeyPair } from 'jose/key/generate/keypair'
import { importJWK } from 'jose/key/import'
import { createHash, randomUUID } from 'node:crypto'
import type { JsonObject } from '../../model/json.ts'
import type { AuthorizedRequest } from '../../model/authorization.ts'
import type { AuthorizationServer } from './server-metadata.ts'

/** The algorithm of our proofs, which every implementation of RFC 9449 knows. */
const algorithm = 'ES256'

/** A key whose possession is proven with each request (RFC 9449). */
export interface ProofKey {
  /** Proofs for the token endpoint, which keep the nonces of its origin. */
  readonly handle: DPoPHandle
  /** A proof for one request that carries `accessToken`, with a time, an id and `ath` of its own. */
  prove(request: AuthorizedRequest, accessToken: string, nonce: string | undefined): Promise<string>
  /** The private key, to be kept with what is bound to it. */
  readonly kept: JsonObject
}

/** A new key. */
export async function createProofKey(): Promise<ProofKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return restoreProofKey(await exportJWK(privateKey))
}

/** The key that was {@link ProofKey.kept}. */
export async function restoreProofKey(kept: JsonObject): Promise<ProofKey> {
  const { kty, crv, x, y } = kept as JWK & { kty: 'EC' }
  const open = { kty, crv, x, y } as JWK
  const privateKey = (await importJWK(kept as JWK, algorithm)) as CryptoKey
  const publicKey = (await importJWK(open, algorithm, { extractable: true })) as CryptoKey
  return {
    kept,
    handle: DPoP({}, { privateKey, publicKey }),
    prove({ url, method }, accessToken, nonce) {
      const { origin, pathname } = new URL(url)
      const ath = createHash('sha256').update(accessToken).digest('base64url')
      return new SignJWT({ htm: method, htu: `${origin}${pathname}`, ath, ...(nonce !== undefined && { nonce }) })
        .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk: open })
        .setIssuedAt()
        .setJti(randomUUID())
        .sign(privateKey)
    },
  }
}

/** Whether an authorization server takes our proofs; one that does not say may. */
export function takesProofs({ dpopAlgorithms }: AuthorizationServer): boolean {
  return dpopAlgorithms === undefined || dpopAlgorithms.includes(algorithm)
}
