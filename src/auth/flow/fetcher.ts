import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { timerMs } from '../../model/timer.ts'
import { isCallFailed } from '../../model/failure.ts'
import { unauthorized, unreachable } from './failure.ts'
import { untilAborted } from './redirect.ts'
import { createGuard, shown, type Guard, type NetworkOptions } from './network.ts'

/** What is sent. */
export interface Outgoing {
  /** Default `GET`. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** The one way in which authorization asks other servers. */
export interface Fetcher {
  readonly guard: Guard
  /** The revision of the protocol that the MCP server is spoken with, once that is known. */
  revision: string | undefined
  /**
   * Asks `url`, and reads the whole answer. The connection goes to an address that was checked, whatever the name
   * resolves to later; redirects are followed within an origin, for GET, three times at most.
   * @throws CallFailed `Unauthorized` where the guard says no or a cap is met, `Unreachable` where there is no answer
   */
  fetch(url: string, outgoing?: Outgoing): Promise<Response>
}

const maxRedirects = 3

/** A fetcher by `options`. @param isLoopback whether the MCP server is on this machine */
export function createFetcher(options: NetworkOptions, isLoopback: boolean): Fetcher {
  const guard = createGuard(options, isLoopback)
  const maxBytes = options.maxBytes ?? 1024 * 1024
  const replaced = options.fetch
  const once = async (url: URL, outgoing: Outgoing, signal: AbortSignal): Promise<Response> => {
    if (replaced === undefined) return send(url, await guard.addresses(url), outgoing, signal, maxBytes)
    const { method = 'GET', headers = {}, body = null } = outgoing
    return replaced(url.href, { method, headers, body, signal, redirect: 'manual' })
  }
  return {
    guard,
    revision: undefined,
    async fetch(text, outgoing = {}) {
      let url = guard.url(text, 'The address asked')
      const timeout = AbortSignal.timeout(timerMs(options.timeoutMs ?? 10_000))
      const signal = outgoing.signal === undefined ? timeout : AbortSignal.any([timeout, outgoing.signal])
      try {
        for (let hop = 0; ; hop++) {
          const response = await untilAborted(once(url, outgoing, signal), signal)
          const next = redirectOf(response, url, outgoing.method ?? 'GET')
          if (next === undefined) return response
          if (hop === maxRedirects) throw unauthorized(`${shown(url)} redirects too often`)
          url = guard.url(next, 'A redirect')
        }
      } catch (error) {
        if (isCallFailed(error)) throw error
        throw unreachable(`${shown(url)} did not answer: ${reason(error, timeout)}`, error)
      }
    },
  }
}

/** Where `response` sends us on, within the same origin. */
function redirectOf(response: Response, url: URL, method: string): string | undefined {
  const location = response.headers.get('location')
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return undefined
  const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
  if (method !== 'GET' || next?.origin !== url.origin)
    throw unauthorized(`${shown(url)} redirects, which is not followed for ${method} or to another origin`)
  return next.href
}

function send(
  url: URL,
  addresses: readonly string[],
  { method = 'GET', headers = {}, body }: Outgoing,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Response> {
  const request = url.protocol === 'https:' ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      // No agent: a connection kept open could have been made to another address.
      { method, headers: { ...headers, connection: 'close' }, agent: false, signal, lookup: pinned(addresses) },
      (answer) => void read(answer, url, maxBytes).then(resolve, reject),
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A lookup that knows only the addresses that were checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, callback) => {
    if (options.all === true) callback(null, all)
    else callback(null, all[0]?.address ?? '', all[0]?.family)
  }
}

async function read(answer: IncomingMessage, url: URL, maxBytes: number): Promise<Response> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maxBytes) {
      answer.destroy()
      throw unauthorized(`${shown(url)} answers with more than ${maxBytes} bytes`)
    }
    parts.push(part)
  }
  const headers = new Headers()
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '')
  const status = answer.statusCode ?? 502
  return new Response([204, 205, 304].includes(status) ? null : Buffer.concat(parts), { status, headers })
}

function reason(error: unknown, timeout: AbortSignal): string {
  if (timeout.aborted) return 'no answer in time'
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? String(error)
}
