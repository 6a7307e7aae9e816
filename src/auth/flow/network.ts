import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { reachOf } from './addresses.ts'
import { unauthorized, unreachable } from './failure.ts'

/** What the requests of authorization may reach, and what they may cost. */
export interface NetworkOptions {
  /**
   * Whether addresses of this machine may be asked, by plain `http` too. Default: only where the MCP server is itself on
   * this machine, so that no remote server can make the client knock at local doors.
   */
  readonly loopback?: boolean
  /** Whether private, link-local and other addresses that are not public may be asked. Default `false`. */
  readonly privateNetworks?: boolean
  /** Bytes of an answer that are read. Default 1 MiB. */
  readonly maxBytes?: number
  /** Milliseconds that one request may take, redirects included. Default 10,000. */
  readonly timeoutMs?: number
  /** Resolves the addresses of a host. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /**
   * Sends requests instead of this library: through a proxy, or where there are no sockets. URLs are checked before;
   * addresses, redirects (there must be none), size and time are then up to it.
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Says which URLs and addresses may be asked. */
export interface Guard {
  /** `text` as a URL. @throws CallFailed `Unauthorized` where it is none, or its scheme or host is not allowed */
  url(text: string, what: string): URL
  /** The addresses of a URL's host, each of them allowed. @throws CallFailed */
  addresses(url: URL): Promise<readonly string[]>
}

/** A guard by `options`. @param isLoopback whether the MCP server is on this machine */
export function createGuard(options: NetworkOptions, isLoopback: boolean): Guard {
  const loopback = options.loopback ?? isLoopback
  const resolve = options.resolve ?? resolveBySystem
  return {
    url(text, what) {
      if (!URL.canParse(text)) throw unauthorized(`${what} is no URL`)
      const url = new URL(text)
      const plain = url.protocol === 'http:' && loopback && isLoopbackHost(url.hostname)
      if (url.protocol !== 'https:' && !plain)
        throw unauthorized(`${what} must begin with https:, and is ${shown(url)}`)
      if (url.username !== '' || url.password !== '') throw unauthorized(`${what} carries credentials: ${shown(url)}`)
      return url
    },
    async addresses(url) {
      const host = url.hostname.replace(/^\[|\]$/g, '')
      const found = isIP(host) > 0 ? [host] : await resolve(host)
      if (found.length === 0) throw unreachable(`${host} has no address`)
      for (const address of found) {
        const reach = reachOf(address)
        const allowed = reach === 'public' || (reach === 'loopback' ? loopback : options.privateNetworks === true)
        // `http` was allowed for the sake of a host that is this machine, so it has to be.
        if (!allowed || (url.protocol === 'http:' && reach !== 'loopback'))
          throw unauthorized(`${host} has the address ${address}, which may not be asked (${reach})`)
      }
      return found
    },
  }
}

/** Whether a URL's host name means this machine, as far as its name says. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(host) > 0 && reachOf(host) === 'loopback')
}

/** A URL as it is named in messages: without what may be secret. */
export function shown(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`
}

async function resolveBySystem(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    throw unreachable(`${host} has no address`, error)
  }
}
