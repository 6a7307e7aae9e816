import { peerFor, portsFor, warnOfNobody, type SpeakOptions } from './defaults.ts'
import type { Served } from './model/served.ts'
import { serveSocket as servePeer, type ServeSocketOptions, type SocketServer } from './transport/serve/socket.ts'

/** What a door on a Unix socket, a named pipe or a TCP port can be told. */
export type SocketDoorOptions = SpeakOptions & ServeSocketOptions

/**
 * Listens on a Unix socket, a Windows named pipe or a TCP port, one message a line, so that a running application can be
 * reached from the same machine; `dragoman attach` joins clients to it that only speak stdio.
 * @throws if the address is taken, or if one that others reach is asked for without `authenticate`
 */
export function serveSocket(served: Served, options: SocketDoorOptions = {}): Promise<SocketServer> {
  const { logger } = portsFor(served, options.logger)
  warnOfNobody(served, options.authenticate, { logger })
  return servePeer(peerFor(served, options), { ...options, logger })
}

export type { SocketServer }
