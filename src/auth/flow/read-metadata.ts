import type { JsonObject } from '../../model/json.ts'
import { unreachable } from './failure.ts'
import type { Fetcher } from './fetcher.ts'
import { parseObject } from './json.ts'

/**
 * The JSON document at `url`. `'none'` where the server says that there is none (a status of 4xx, but for 429, and for
 * answers that are no JSON, since many servers answer every path with a page).
 * @throws CallFailed where it cannot be said whether there is one
 */
export async function readMetadata(fetcher: Fetcher, url: string): Promise<JsonObject | 'none'> {
  const response = await fetcher.fetch(url, { headers: { accept: 'application/json' } })
  if (response.status === 429 || response.status >= 500) throw unreachable(`${url} answers ${response.status}`)
  if (response.status !== 200) return 'none'
  return parseObject(await response.text()) ?? 'none'
}
