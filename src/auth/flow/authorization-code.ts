import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi'
import { timerMs } from '../../model/timer.ts'
import { quoted, unauthorized } from './failure.ts'
import type { GrantContext, Granted } from './grant-context.ts'
import type { AuthorizationCodeGrant } from './grant.ts'
import { loopbackRedirect } from './loopback.ts'
import type { Listening } from './redirect.ts'
import { scopesIn } from './scopes.ts'
import type { AuthorizationServer } from './server-metadata.ts'
import { requestTokens } from './token-request.ts'

/**
 * Has the user agree in a browser, and redeems the code (OAuth 2.1 §4.1; PKCE by S256, resource indicator and state in
 * any case).
 * @throws TokenRefused @throws CallFailed `Unauthorized` where the server does not do PKCE, the user declines or takes too
 * long, or the answer is another's
 */
export async function authorizationCode(grant: AuthorizationCodeGrant, context: GrantContext): Promise<Granted> {
  const { server, fetcher, target, proofKey } = context
  const endpoint = endpointOf(context)
  const listening = await (grant.redirect ?? loopbackRedirect()).listen(await context.registered())
  try {
    const client = await context.client(listening.uri)
    const [verifier, state] = [generateRandomCodeVerifier(), generateRandomState()]
    const url = new URL(endpoint)
    const parameters = {
      response_type: 'code',
      client_id: client.id,
      redirect_uri: listening.uri,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: target.scope,
      resource: target.resource,
      // Without it, OpenID Connect Core §11 has servers pass over the scope.
      prompt: scopesIn(target.scope).includes('offline_access') ? 'consent' : undefined,
    }
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
    const timeout = AbortSignal.timeout(timerMs(grant.timeoutMs ?? 5 * 60_000))
    const signal = AbortSignal.any([timeout, context.signal])
    const answer = await answered(listening, state, () => grant.open(url.href, target), signal).catch(
      async (error: unknown) => {
        if (!timeout.aborted) throw error
        // A server that has forgotten its client shows that to the user only. The next try begins with a new one.
        await context.forget(client)
        throw unauthorized('Nobody agreed in time', { cause: error })
      },
    )
    const code = codeIn(answer, server)
    const tokens = await requestTokens(fetcher, {
      server,
      client,
      grantType: 'authorization_code',
      parameters: { code, redirect_uri: listening.uri, code_verifier: verifier, resource: target.resource },
      proofKey,
    })
    return { client, tokens }
  } finally {
    await listening.close()
  }
}

/** Where the user is sent. */
function endpointOf({ server, fetcher }: GrantContext): string {
  const { issuer, authorizationEndpoint, challengeMethods, found } = server
  // Servers of 2025-03-26 do PKCE, and need not say so.
  const silent = found !== 'issuer' && challengeMethods === undefined
  if (!silent && challengeMethods?.includes('S256') !== true) throw unauthorized(`${issuer} does not do PKCE by S256`)
  if (authorizationEndpoint === undefined) throw unauthorized(`${issuer} has no authorization endpoint`)
  return fetcher.guard.url(authorizationEndpoint, 'The authorization endpoint').href
}

/** The answer, once it comes. The wait ends with the first thing that goes wrong. */
async function answered(
  listening: Listening,
  state: string,
  open: () => void | Promise<void>,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  // A browser that opens for nobody would only confuse its user.
  signal.throwIfAborted()
  const [parameters] = await Promise.all([listening.answer(state, signal), Promise.resolve().then(open)])
  return parameters
}

/**
 * The code in an authorization response. Its issuer is checked before all else: of a response that is another's, nothing
 * is used or shown (Authorization, "Authorization Response Validation", RFC 9207 §2.4).
 */
function codeIn(answer: URLSearchParams, { issuer, namesIssuer }: AuthorizationServer): string {
  const one = (name: string): string | undefined => {
    const values = answer.getAll(name)
    if (values.length > 1) throw unauthorized(`The authorization response has more than one ${name}`)
    return values[0]
  }
  const iss = one('iss')
  if (iss === undefined ? namesIssuer : iss !== issuer)
    throw unauthorized(`The authorization response is not from ${issuer}`)
  const error = one('error')
  if (error !== undefined) {
    const data = { error, error_description: one('error_description') }
    throw unauthorized(`${issuer} answers ${quoted(error)}`, { data })
  }
  const code = one('code')
  if (code === undefined || code === '') throw unauthorized('The authorization response has no code')
  return code
}
