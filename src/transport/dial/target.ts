import type { Link, Target } from '../../peer/link.ts'
import type { HttpLinkOptions } from './http-channel.ts'
import { createHttpSseLink, type HttpSseLinkOptions } from './http-sse.ts'
import { createHttpLink } from './http.ts'
import { createMemoryLink, type MemoryEnd, type MemoryLinkOptions } from './memory.ts'
import { createSocketLink, type SocketOptions } from './socket.ts'
import { createStdioLink, type CommandOptions } from './stdio.ts'
import { commandKey, urlKey } from './target-key.ts'

/** How a server at a URL is reached. */
export interface HttpTargetOptions extends HttpLinkOptions, HttpSseLinkOptions {
  /** The transports to try, the best first; Streamable HTTP and then HTTP+SSE by default. */
  readonly transports?: readonly ('http' | 'http+sse')[]
}

/**
 * A server at a URL.
 * @throws TypeError where the URL is not one of http or https, or has credentials in it, which belong into headers
 */
export function httpTarget(url: string | URL, options: HttpTargetOptions = {}): Target {
  const at = new URL(url)
  if (at.protocol !== 'http:' && at.protocol !== 'https:')
    throw new TypeError(`${at.protocol} is neither http nor https`)
  if (at.username !== '' || at.password !== '') throw new TypeError('credentials in a URL leak: give them as headers')
  at.hash = ''
  const { transports = ['http', 'http+sse'], authorization } = options
  return {
    key: urlKey(at),
    transports,
    link: (transport): Link =>
      transport === 'http+sse' ? createHttpSseLink(at, options) : createHttpLink(at, options),
    ...(authorization !== undefined && { context: authorization.context }),
  }
}

/** A server that is started by a command, once for each link. */
export function commandTarget(options: CommandOptions): Target {
  let key: string | undefined
  return {
    get key() {
      key ??= commandKey(options)
      return key
    },
    transports: ['stdio'],
    link: () => createStdioLink(options),
  }
}

/** A server that listens on a Unix socket, a named pipe or a TCP port. @throws TypeError without a path or port */
export function socketTarget(options: SocketOptions): Target {
  const { path, host = '127.0.0.1', port } = options
  if (path === undefined && port === undefined) throw new TypeError('a socket has a path or a port')
  return {
    key: path === undefined ? `tcp:${host}:${port}` : `unix:${path}`,
    transports: ['socket'],
    link: () => createSocketLink(options),
  }
}

let memories = 0

/** A server within the process. @param connect makes the client's end, once for each link */
export function memoryTarget(connect: () => MemoryEnd | Promise<MemoryEnd>, options: MemoryLinkOptions = {}): Target {
  return {
    key: `memory:${++memories}`,
    transports: ['memory'],
    link: () => createMemoryLink(connect, options),
  }
}

/** Whatever says where a server is. */
export type TargetLike = string | URL | Target | CommandOptions | SocketOptions

/**
 * Makes a target of what says where a server is: a URL of http or https, `unix:` and a path, `tcp:` with host and port,
 * the path of a Windows pipe (`\\.\pipe\…`), the options of a command or a socket, or a target.
 * @throws TypeError for anything else: a command is never guessed from a string, since it would be run
 */
export function toTarget(where: TargetLike, options: HttpTargetOptions = {}): Target {
  if (where instanceof URL) return fromText(where.href, options)
  if (typeof where === 'string') return fromText(where, options)
  // It may come from outside: an unset variable, say.
  if (typeof where !== 'object' || where === null) throw new TypeError(`${String(where)} says of no server where it is`)
  if ('link' in where) return where
  return 'command' in where ? commandTarget(where) : socketTarget(where)
}

function fromText(text: string, options: HttpTargetOptions): Target {
  if (/^https?:/i.test(text)) return httpTarget(text, options)
  const path = /^unix:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1] ?? (text.startsWith('\\\\.\\pipe\\') ? text : undefined)
  if (path !== undefined) return socketTarget({ path })
  const [, host, port] = /^tcp:(?:\/\/)?(\[[\da-f:.]+\]|[^\s:/[\]]+)?:(\d{1,5})\/?$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) {
    throw new TypeError(`"${text}" says of no server where it is: a URL, unix:PATH, tcp:HOST:PORT, or { command }`)
  }
  return socketTarget({ port: Number(port), ...(host !== undefined && { host: host.replace(/^\[(.*)\]$/, '$1') }) })
}
