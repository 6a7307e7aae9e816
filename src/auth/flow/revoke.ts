import { allowInsecureRequests, customFetch, revocationRequest } from 'oauth4webapi'
import { authenticationOf } from './client-authentication.ts'
import type { Client } from './client.ts'
import type { Fetcher } from './fetcher.ts'
import type { Held } from './held.ts'
import type { AuthorizationServer } from './server-metadata.ts'

/** Revokes the token at its server, where that can be done (RFC 7009). The refresh token takes the others with it. */
export async function revoke(fetcher: Fetcher, server: AuthorizationServer, client: Client, held: Held): Promise<void> {
  if (server.revocationEndpoint === undefined) return
  await revocationRequest(
    { issuer: server.issuer, revocation_endpoint: server.revocationEndpoint },
    { client_id: client.id },
    await authenticationOf(client, server.tokenMethods),
    held.refreshToken ?? held.accessToken,
    {
      [allowInsecureRequests]: true,
      [customFetch]: (url, { method, headers, body }) => fetcher.fetch(url, { method, headers, body: String(body) }),
    },
  )
}
