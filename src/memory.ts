import { peerFor, portsFor, type SpeakOptions } from './defaults.ts'
import type { Served } from './model/served.ts'
import { connectInMemory as connectPeer, type MemoryLink, type MemoryOptions } from './transport/serve/memory.ts'

/** What a door within the process can be told. */
export type ConnectOptions = SpeakOptions & MemoryOptions

/** Connects to a served value within the process; text crosses, as on any other wire. */
export function connectInMemory(served: Served, options: ConnectOptions = {}): MemoryLink {
  const { logger } = portsFor(served, options.logger)
  return connectPeer(peerFor(served, options), { ...options, logger })
}

export type { MemoryLink }
