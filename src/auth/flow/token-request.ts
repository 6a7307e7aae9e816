import {
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  isDPoPNonceError,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type ProcessTokenResponseOptions,
} from 'oauth4webapi'
import { parseObject } from './json.ts'
import { authenticationOf } from './client-authentication.ts'
import type { Client } from './client.ts'
import type { ProofKey } from './dpop.ts'
import { quoted, unauthorized, unreachable } from './failure.ts'
import type { Fetcher } from './fetcher.ts'

/** A token endpoint said no. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
  /** The code of RFC 6749 §5.2, such as `invalid_grant`. */
  readonly code: string

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** The server whose token endpoint is asked. */
export interface TokenServer {
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly tokenMethods?: readonly string[] | undefined
}

/** What a token endpoint gives. */
export interface Tokens {
  readonly accessToken: string
  /** In lower case. */
  readonly type: string
  readonly refreshToken: string | undefined
  /** Seconds. */
  readonly expiresIn: number | undefined
  /** Left out where it is what was asked for. */
  readonly scope: string | undefined
  /** What a token exchange issued (RFC 8693 §2.2.1). */
  readonly issued: string | undefined
}

/** One request to a token endpoint. */
export interface TokenRequest {
  readonly server: TokenServer
  readonly client: Client
  readonly grantType: string
  /** What is sent beside the grant type and the client's authentication; what is undefined is not. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly proofKey?: ProofKey | undefined
  /** Types of tokens that are good besides `Bearer` and `DPoP`, in lower case. */
  readonly tokenTypes?: readonly string[]
}

/**
 * Asks a token endpoint. A nonce that it wants in the proof is supplied at once, by one more request (RFC 9449 §8).
 * ID tokens are left out of the answer: nothing here identifies users by them.
 * @throws TokenRefused @throws CallFailed `Unreachable` where the endpoint is out of order, `Unauthorized` for what is no token
 */
export async function requestTokens(fetcher: Fetcher, request: TokenRequest): Promise<Tokens> {
  try {
    return await ask(fetcher, request)
  } catch (error) {
    if (request.proofKey !== undefined && isDPoPNonceError(error)) return ask(fetcher, request).catch(refuse)
    return refuse(error)
  }
}

async function ask(fetcher: Fetcher, request: TokenRequest): Promise<Tokens> {
  const { server, client, proofKey } = request
  const as = { issuer: server.issuer, token_endpoint: server.tokenEndpoint }
  const parameters = Object.entries(request.parameters).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  const response = await genericTokenEndpointRequest(
    as,
    { client_id: client.id },
    await authenticationOf(client, server.tokenMethods),
    request.grantType,
    parameters,
    {
      // Which schemes are good is for the guard to say.
      [allowInsecureRequests]: true,
      [customFetch]: (url, { method, headers, body }) => fetcher.fetch(url, { method, headers, body: String(body) }),
      ...(proofKey !== undefined && { DPoP: proofKey.handle }),
    },
  )
  if (response.status === 429 || response.status >= 500)
    throw unreachable(`${server.tokenEndpoint} answers ${response.status}`)
  const recognizedTokenTypes: NonNullable<ProcessTokenResponseOptions['recognizedTokenTypes']> = Object.fromEntries(
    (request.tokenTypes ?? []).map((type) => [type, () => undefined]),
  )
  const answer = await processGenericTokenEndpointResponse(
    as,
    { client_id: client.id },
    await withoutIdToken(response),
    {
      recognizedTokenTypes,
    },
  )
  // It becomes part of a header (RFC 6750 §2.1).
  if (!/^[\x21-\x7e]+$/.test(answer.access_token)) throw unauthorized(`${server.tokenEndpoint} issued what is no token`)
  return {
    accessToken: answer.access_token,
    type: answer.token_type,
    refreshToken: answer.refresh_token,
    expiresIn: answer.expires_in,
    scope: answer.scope,
    issued: typeof answer.issued_token_type === 'string' ? answer.issued_token_type : undefined,
  }
}

async function withoutIdToken(response: Response): Promise<Response> {
  if (response.status !== 200) return response
  const text = await response.text()
  const { id_token: _, ...rest } = parseObject(text) ?? {}
  const { status, headers } = response
  return new Response(parseObject(text) === undefined ? text : JSON.stringify(rest), { status, headers })
}

function refuse(error: unknown): never {
  if (error instanceof ResponseBodyError) {
    const { error: code, error_description: description } = error
    throw new TokenRefused(code, quoted(description === undefined ? code : `${code}, ${description}`), error)
  }
  if (error instanceof WWWAuthenticateChallengeError)
    throw new TokenRefused('invalid_client', 'the token endpoint refuses the client', error)
  throw error
}
