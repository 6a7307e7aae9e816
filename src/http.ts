import { peerFor, portsFor, warnOfMemory, warnOfNobody, type SpeakOptions } from './defaults.ts'
import type { Served } from './model/served.ts'
import type { ServerPorts } from './server/server.ts'
import { fetchHandler as fetchPeer, type FetchHandler } from './transport/serve/fetch.ts'
import type { HttpOptions } from './transport/serve/http-types.ts'
import {
  nodeHandler as nodePeer,
  serveHttp as listenPeer,
  type HttpServer,
  type NodeHandler,
  type ServeHttpOptions as ListenOptions,
} from './transport/serve/node.ts'

/** What an HTTP door can be told. Clock, randomness, seal and store are those of the server behind it. */
export type HttpDoorOptions = SpeakOptions & Omit<HttpOptions, 'clock' | 'random' | 'seal' | 'store'>

/** What an HTTP door can be told that opens a port of its own. */
export type ServeHttpOptions = SpeakOptions & Omit<ListenOptions, 'clock' | 'random' | 'seal' | 'store'>

/**
 * Listens on `host` (default 127.0.0.1) and `port` (default any) and serves every revision on `/mcp`, and HTTP+SSE of 2024-11-05 on `/sse`.
 * @throws if the port is taken, or if a host that others reach is asked for without `authenticate`
 */
export function serveHttp(served: Served, options: ServeHttpOptions = {}): Promise<HttpServer> {
  return listenPeer(peerFor(served, options), portsAnd(served, options))
}

/** A request listener for `node:http` and the frameworks on it. */
export function nodeHandler(served: Served, options: HttpDoorOptions = {}): NodeHandler {
  return nodePeer(peerFor(served, options), portsAnd(served, options))
}

/** A handler of web-standard requests, for every runtime that has them. */
export function fetchHandler(served: Served, options: HttpDoorOptions = {}): FetchHandler {
  return fetchPeer(peerFor(served, options), portsAnd(served, options))
}

function portsAnd<Options extends HttpDoorOptions>(served: Served, options: Options): Options & ServerPorts {
  const ports = portsFor(served, options.logger)
  warnOfMemory(served, ports)
  warnOfNobody(served, options.authenticate, ports)
  return { ...options, ...ports }
}

export type { FetchHandler, HttpServer, NodeHandler }
