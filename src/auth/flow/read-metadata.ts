import type { JsonObject } from '../../model/json.ts'
import { unreachable } from './failure.ts'
import type { Fetcher } from './fetcher.ts'
import { parseObject } from './json.ts'

/**
 * The JSON document at `url`. `'none'` where the server says that there is none (a status of 4xx, but for 429, and for
 * answers that are no JSON, since many servers answer every path with a page). The MCP server itself is told the revision
 * of the protocol (2025-03-26, authorization, server metadata discovery headers), nobody else.
 * @throws CallFailed where it cannot be said whether there is one
 */
export async function readMetadata(
  fetcher: Fetcher,
  url: string,
  of: 'server' | 'issuer',
): Promise<JsonObject | 'none'> {
  const revision = of === 'server' ? fetcher.revision : undefined
  const spoken = revision !== undefined && { 'mcp-protocol-version': revision }
  const response = await fetcher.fetch(url, { headers: { accept: 'application/json', ...spoken } })
  if (response.status === 429 || response.status >= 500) throw unreachable(`${url} answers ${response.status}`)
  if (response.status !== 200) return 'none'
  return parseObject(await response.text()) ?? 'none'
}
