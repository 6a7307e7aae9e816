import { unauthorized } from './failure.ts'
import type { GrantContext } from './grant-context.ts'
import type { EnterpriseManagedGrant } from './grant.ts'
import { requestTokens } from './token-request.ts'

const idJag = 'urn:ietf:params:oauth:token-type:id-jag'

/**
 * Exchanges the user's identity for an assertion to the MCP server's authorization server (RFC 8693; Enterprise-Managed
 * Authorization §4).
 * @throws TokenRefused @throws CallFailed
 */
export async function enterpriseManaged(grant: EnterpriseManagedGrant, context: GrantContext): Promise<string> {
  const { tokenEndpoint, client, subjectToken, subjectTokenType } = grant
  const { issuer, resource, scope } = context.target
  const { issued, accessToken } = await requestTokens(context.fetcher, {
    server: { issuer: grant.issuer ?? new URL(tokenEndpoint).origin, tokenEndpoint },
    client: { ...client, origin: 'configured' },
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    parameters: {
      requested_token_type: idJag,
      audience: issuer,
      resource,
      scope,
      subject_token: await subjectToken(),
      subject_token_type: subjectTokenType ?? 'urn:ietf:params:oauth:token-type:id_token',
    },
    tokenTypes: ['n_a'],
  })
  if (issued !== idJag)
    throw unauthorized(`${tokenEndpoint} issued ${issued ?? 'nothing that has a type'}, not an ID-JAG`)
  return accessToken
}
