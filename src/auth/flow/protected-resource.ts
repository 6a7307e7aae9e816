import { unauthorized } from './failure.ts'
import type { Fetcher } from './fetcher.ts'
import { own } from '../../model/json.ts'
import { textOf, textsOf } from './json.ts'
import { readMetadata } from './read-metadata.ts'

/** What an MCP server tells of its authorization (RFC 9728). */
export interface ProtectedResource {
  /** Exactly as the server writes it: it is sent as it is. */
  readonly resource: string
  /** Issuers of the authorization servers, at least one. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
  /** Whether access tokens have to be bound to a key. */
  readonly dpopRequired: boolean
}

const wellKnown = '/.well-known/oauth-protected-resource'

/**
 * The metadata of the server at `server`: where the challenge says that it is, else at the well-known address of the
 * server's path, else at that of the root. `undefined` where there is none at all, as before 2025-06-18.
 * @throws CallFailed `Unauthorized` for metadata elsewhere than at the server, without authorization servers, or about
 * another resource (RFC 9728 §3.3)
 */
export async function readProtectedResource(
  fetcher: Fetcher,
  server: URL,
  challenged: string | undefined,
): Promise<ProtectedResource | undefined> {
  for (const address of challenged === undefined ? addressesFor(server) : [hinted(fetcher, server, challenged)]) {
    const document = await readMetadata(fetcher, address, 'server')
    if (document === 'none') continue
    const [resource, issuers] = [textOf(document, 'resource'), textsOf(document, 'authorization_servers')]
    if (resource === undefined || !covers(resource, server))
      throw unauthorized(`${address} is about another resource than ${server.href}`, { data: { resource } })
    if (issuers === undefined || issuers.length === 0) throw unauthorized(`${address} names no authorization server`)
    const dpopRequired = own(document, 'dpop_bound_access_tokens_required') === true
    return { resource, issuers, scopes: textsOf(document, 'scopes_supported'), dpopRequired }
  }
  if (challenged !== undefined) throw unauthorized(`There is no metadata at ${challenged}, where the server says it is`)
  return undefined
}

function addressesFor({ origin, pathname }: URL): readonly string[] {
  const root = `${origin}${wellKnown}`
  return pathname === '/' ? [root] : [`${root}${pathname}`, root]
}

/** Metadata lies with its resource (RFC 9728 §3.1), so a challenge cannot send us anywhere else. */
function hinted(fetcher: Fetcher, server: URL, address: string): string {
  const url = fetcher.guard.url(address, 'The address of the resource metadata')
  if (url.origin !== server.origin) throw unauthorized(`The resource metadata of ${server.origin} is at ${url.origin}`)
  return url.href
}

/** Whether tokens for `resource` are for `server`: the same origin, and the same path or one above it. */
export function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false
  const { origin, pathname, hash } = new URL(resource)
  const above = pathname.endsWith('/') ? pathname : `${pathname}/`
  return origin === server.origin && hash === '' && `${server.pathname}/`.startsWith(above)
}
