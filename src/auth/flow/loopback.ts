import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { untilAborted, type Redirect } from './redirect.ts'

/** Where a command line listens for the browser. */
export interface LoopbackOptions {
  /** Port. Default 0: the one that was registered before if it is free, else any. */
  readonly port?: number
  /** Host in the redirect URI; 127.0.0.1 is what is listened on. Default `127.0.0.1`. */
  readonly host?: '127.0.0.1' | 'localhost'
  /** Default `/callback`. */
  readonly path?: string
  /** What the browser shows in the end, HTML. The default says that the window can be closed. */
  readonly page?: string
}

const done = '<!doctype html><meta charset="utf-8"><title>Done</title><p>Done. You can close this window.</p>'
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  connection: 'close',
}

/**
 * A redirect to this machine (RFC 8252 §7.3), for command lines and desktop applications: a server on 127.0.0.1 that
 * answers one authorization and closes. Nothing of what it receives is shown.
 */
export function loopbackRedirect(options: LoopbackOptions = {}): Redirect {
  const { host = '127.0.0.1', path = '/callback', page = done } = options
  return {
    async listen(registered) {
      const received = new Set<(parameters: URLSearchParams) => boolean>()
      const server = createServer((request, response) => serve(request, response, path, page, received))
      const earlier = registered.map((uri) => portOf(uri, host, path)).filter((port) => port !== undefined)
      const port = await listenOn(server, options.port ?? 0, options.port === undefined ? earlier : [])
      return {
        uri: `http://${host}:${port}${path}`,
        answer: (state, signal) => answerOf(state, signal, received),
        close: () => close(server),
      }
    },
  }
}

function serve(
  { method, url = '/', headers: { host = '' } }: IncomingMessage,
  response: ServerResponse,
  path: string,
  page: string,
  received: ReadonlySet<(parameters: URLSearchParams) => boolean>,
): void {
  const end = (status: number, text: string): void => void response.writeHead(status, headers).end(text)
  // Another name for this address is a page in the browser that lets its own name resolve to 127.0.0.1.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return end(403, 'Forbidden')
  const [pathname = '', query = ''] = url.split('?', 2)
  if (method !== 'GET' || pathname !== path) return end(404, 'Not found')
  const parameters = new URLSearchParams(query)
  if ([...received].some((take) => take(parameters))) end(200, page)
  else end(400, 'Not expected')
}

function answerOf(
  state: string,
  signal: AbortSignal,
  received: Set<(parameters: URLSearchParams) => boolean>,
): Promise<URLSearchParams> {
  const { promise, resolve } = withResolvers<URLSearchParams>()
  const take = (parameters: URLSearchParams): boolean => {
    if (!sameText(parameters.get('state') ?? '', state)) return false
    resolve(parameters)
    return true
  }
  received.add(take)
  return untilAborted(promise, signal).finally(() => received.delete(take))
}

function sameText(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function portOf(uri: string, host: string, path: string): number | undefined {
  if (!URL.canParse(uri)) return undefined
  const { hostname, pathname, port } = new URL(uri)
  return hostname === host && pathname === path && port !== '' ? Number(port) : undefined
}

/** Listens on the first of `earlier` that is free, else on `port`. */
async function listenOn(server: Server, port: number, earlier: readonly number[]): Promise<number> {
  for (const candidate of [...earlier, port]) {
    const { promise, resolve, reject } = withResolvers<void>()
    server.once('error', reject).listen(candidate, '127.0.0.1', resolve)
    try {
      await promise
      break
    } catch (error) {
      if (candidate === port) throw error
    } finally {
      server.removeListener('error', reject)
    }
  }
  return (server.address() as AddressInfo).port
}

/** Listens no more, and lets the browser have its answer first. */
function close(server: Server): void {
  server.close()
  setTimeout(() => server.closeAllConnections(), 1000).unref()
}

interface Resolvers<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (error: Error) => void
}

function withResolvers<Value>(): Resolvers<Value> {
  let [resolve, reject]: [Resolvers<Value>['resolve'], Resolvers<Value>['reject']] = [() => {}, () => {}]
  const promise = new Promise<Value>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}
