import type { Demand } from './challenge.ts'
import type { Fetcher } from './fetcher.ts'
import type { Held } from './held.ts'
import { readProtectedResource, type ProtectedResource } from './protected-resource.ts'
import { configuredClients, type RegistrationOptions } from './registration.ts'
import { readAuthorizationServer, readOwnAuthorizationServer, type AuthorizationServer } from './server-metadata.ts'

/** What an MCP server and its authorization server tell of themselves. */
export interface Discovered {
  readonly server: AuthorizationServer
  /** Undefined for servers of 2025-03-26, which tell nothing. */
  readonly resource: ProtectedResource | undefined
}

/**
 * Finds the authorization server of an MCP server, in the order of every revision: resource metadata and what that names,
 * else the MCP server itself.
 * @throws CallFailed
 */
export async function discover(
  fetcher: Fetcher,
  url: URL,
  demand: Demand,
  options: RegistrationOptions,
  held: Held | undefined,
): Promise<Discovered> {
  const resource = await readProtectedResource(fetcher, url, demand.resourceMetadata)
  if (resource === undefined) return { resource, server: await readOwnAuthorizationServer(fetcher, url) }
  // Where there is a choice, one that knows us already (RFC 9728 §7.6 leaves it to the client).
  const known = [...configuredClients(options).map(({ issuer }) => issuer), held?.issuer]
  const issuer = resource.issuers.find((candidate) => known.includes(candidate)) ?? resource.issuers[0] ?? ''
  return { resource, server: await readAuthorizationServer(fetcher, issuer) }
}

/** The authorization server of a token that was had before. */
export function serverOf(fetcher: Fetcher, url: URL, { issuer, found }: Held): Promise<AuthorizationServer> {
  return found === 'issuer' ? readAuthorizationServer(fetcher, issuer) : readOwnAuthorizationServer(fetcher, url)
}
