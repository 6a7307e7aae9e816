/** Which hosts an endpoint answers to, and which web pages may call it. */
export interface GuardOptions {
  /**
   * Names this server is reached by, besides `localhost`, `127.0.0.1` and `[::1]`; each for any port unless it names
   * one: `api.example.com`, `api.example.com:8443`.
   */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may call, besides those on the allowed hosts: `https://app.example.com`. */
  readonly origins?: readonly string[]
}

/** Refuses what a browser was tricked into sending. `undefined`: let it pass. */
export type Guard = (
  host: string | undefined,
  origin: string | undefined,
) => 'ForeignHost' | 'ForeignOrigin' | undefined

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/**
 * Prepares the check of Host and Origin that every request goes through (specification, "Security Warning":
 * DNS rebinding).
 */
export function createGuard(options: GuardOptions = {}): Guard {
  const hosts = new Set([...loopbackHosts, ...(options.hosts ?? [])].map((host) => host.toLowerCase()))
  const origins = new Set((options.origins ?? []).map((origin) => origin.toLowerCase()))
  const isHost = (host: string): boolean => {
    const name = nameOf(host)
    return name !== undefined && (hosts.has(name) || hosts.has(host))
  }
  const isOrigin = (origin: string): boolean => {
    const [, host] = /^https?:\/\/([^/]+)$/.exec(origin) ?? []
    return origins.has(origin) || (host !== undefined && isHost(host))
  }
  // Most requests repeat the host of the one before.
  let lastHost: string | undefined
  return (host, origin) => {
    if (host === undefined) return 'ForeignHost'
    if (host !== lastHost) {
      if (!isHost(host.toLowerCase())) return 'ForeignHost'
      lastHost = host
    }
    return origin === undefined || isOrigin(origin.toLowerCase()) ? undefined : 'ForeignOrigin'
  }
}

/** The name in `name` or `name:port`; IPv6 addresses keep their brackets. */
function nameOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:[\]@]+)(?::\d{1,5})?$/.exec(host)?.[1]
}

/** Whether a server bound to `host` can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
