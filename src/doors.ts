import { peerFor, portsFor, type SpeakOptions } from './defaults.ts'
import type { Served } from './model/served.ts'
import { fetchHandler as fetchPeer, type FetchHandler } from './transport/serve/fetch.ts'
import type { HttpOptions } from './transport/serve/http-types.ts'
import { connectInMemory as connectPeer, type MemoryLink, type MemoryOptions } from './transport/serve/memory.ts'
import {
  nodeHandler as nodePeer,
  serveHttp as listenPeer,
  type HttpServer,
  type NodeHandler,
  type ServeHttpOptions as ListenOptions,
} from './transport/serve/node.ts'
import { serveStdio as servePeer, type StdioOptions } from './transport/serve/stdio.ts'

/** What an HTTP door can be told. Clock, randomness, seal and store are those of the server behind it. */
export type HttpDoorOptions = SpeakOptions & Omit<HttpOptions, 'clock' | 'random' | 'seal' | 'store'>
export type ServeHttpOptions = SpeakOptions & Omit<ListenOptions, 'clock' | 'random' | 'seal' | 'store'>
export type StdioDoorOptions = SpeakOptions & StdioOptions
export type ConnectOptions = SpeakOptions & MemoryOptions

/**
 * Listens on `host` (default 127.0.0.1) and `port` (default any) and serves every revision on `/mcp`.
 * @throws if the port is taken, or if a host that others reach is asked for without `authenticate`
 */
export function serveHttp(served: Served, options: ServeHttpOptions = {}): Promise<HttpServer> {
  return listenPeer(peerFor(served, options), { ...options, ...portsFor(served, options.logger) })
}

/** A request listener for `node:http` and the frameworks on it. */
export function nodeHandler(served: Served, options: HttpDoorOptions = {}): NodeHandler {
  return nodePeer(peerFor(served, options), { ...options, ...portsFor(served, options.logger) })
}

/** A handler of web-standard requests, for every runtime that has them. */
export function fetchHandler(served: Served, options: HttpDoorOptions = {}): FetchHandler {
  return fetchPeer(peerFor(served, options), { ...options, ...portsFor(served, options.logger) })
}

/** Serves standard input and output, every revision in one process. Resolves once the input has ended and all is answered. */
export async function serveStdio(served: Served, options: StdioDoorOptions = {}): Promise<void> {
  const { logger } = portsFor(served, options.logger)
  await servePeer(peerFor(served, options), { ...options, logger }).closed
}

/** Connects to a served value within the process; text crosses, as on any other wire. */
export function connectInMemory(served: Served, options: ConnectOptions = {}): MemoryLink {
  const { logger } = portsFor(served, options.logger)
  return connectPeer(peerFor(served, options), { ...options, logger })
}

export type { FetchHandler, HttpServer, MemoryLink, NodeHandler }
