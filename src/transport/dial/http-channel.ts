import type { Agent } from 'node:http'
import type { SecureContextOptions } from 'node:tls'
import type { Authorization } from '../../model/authorization.ts'
import type { Caps } from '../../wire/caps.ts'
import { withAuthorization } from './http-authorized.ts'
import { createFetchSend, type Fetch } from './http-fetch.ts'
import { withIdleTimeout } from './http-idle.ts'
import { createNodeSend } from './http-node.ts'
import { withRedirects } from './http-redirected.ts'
import type { HttpSend } from './http-types.ts'

/** How a server is reached over HTTP, whichever of the two transports it has. */
export interface HttpLinkOptions {
  /** Headers on every request, names in any case; those of the protocol win over them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where credentials come from, and what deals with a 401 or 403. */
  readonly authorization?: Authorization
  /** Sends by this `fetch` instead of `node:http`. */
  readonly fetch?: Fetch
  /** Makes the connections of `node:http` (a proxy, a Unix socket). It stays its owner's to destroy. */
  readonly agent?: Agent
  /** Certificates and keys of `node:https`. */
  readonly tls?: SecureContextOptions
  readonly caps?: Partial<Caps>
  /** Milliseconds that connecting may take; 10,000 by default. Not for `fetch`, which has its own. */
  readonly connectTimeoutMs?: number
  /** Milliseconds without a byte after which a response that has begun is given up as broken. Without it never. */
  readonly idleTimeoutMs?: number
  /** Milliseconds that a server may take to acknowledge what has no answer; 30,000 by default. */
  readonly acknowledgeTimeoutMs?: number
  /** Milliseconds after which a stream that broke is taken up again, unless the server says; 1,000 by default. */
  readonly retryMs?: number
}

/**
 * Shorter than what servers have: one that closes a connection just when a request is put on it leaves nobody knowing
 * whether that arrived. Many keep theirs for five seconds.
 */
const idleSocketMs = 4_000

/** Opens the way that a link's requests take: redirects, credentials and silence are dealt with on it. */
export async function openChannel(url: URL, options: HttpLinkOptions, caps: Caps): Promise<HttpSend> {
  const { fetch, authorization, idleTimeoutMs, connectTimeoutMs = 10_000, agent, tls } = options
  const { maxHeaderBytes } = caps
  const plain =
    fetch === undefined
      ? await createNodeSend(url, { connectTimeoutMs, idleSocketMs, maxHeaderBytes, agent, tls })
      : createFetchSend(fetch)
  const lively = idleTimeoutMs === undefined ? plain : withIdleTimeout(plain, idleTimeoutMs)
  return withRedirects(authorization === undefined ? lively : withAuthorization(lively, authorization))
}
