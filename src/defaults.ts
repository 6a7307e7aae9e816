import type { RefusalProfile } from './codec/codec.ts'
import type { Loss } from './codec/projection.ts'
import { createCodecs, type Codecs } from './codec/registry.ts'
import { createStoredSeal } from './durable/key-ring.ts'
import { guarded, type Clock, type Logger, type Random, type Seal } from './model/ports.ts'
import type { Served } from './model/served.ts'
import type { Store } from './model/store.ts'
import { createPeer } from './peer/create.ts'
import type { Peer } from './peer/peer.ts'
import { createRandom } from './seal/random.ts'
import { createSeal, randomKey } from './seal/seal.ts'
import { createServerOver, hidesAnything } from './server/create-server.ts'
import type { Server, ServerOptions, ServerPorts } from './server/server.ts'
import type { ToolValue } from './server/tool.ts'
import { memoryStore } from './store/memory.ts'
import { defaultCaps, type Caps } from './wire/caps.ts'

/** What a server keeps and seals with, besides what it offers. */
export interface StateOptions {
  /** Where state is kept that does not travel with the client. Default: this process's memory. */
  readonly store?: Store
  /**
   * Keys of 32 bytes that request states, session ids and cursors are sealed with, the newest first: it seals, all of
   * them open. Default: one that is made once and kept in the store, so that all who share a store agree without being
   * told; with a store in memory, what this process sealed nobody opens once it has ended.
   */
  readonly keys?: readonly Uint8Array[]
  /** The time. Default `Date.now`. */
  readonly clock?: Clock
  /** What ids, keys and seals are made of. Default: the runtime's own generator. */
  readonly random?: Random
  /** What the server and its doors report to. Default: nothing is reported. */
  readonly logger?: Logger
}

/** How a served value speaks on one door. */
export interface SpeakOptions {
  /** The revisions to serve. Default: every one that is known. */
  readonly revisions?: readonly string[]
  /** The revisions that are known. Default: all that are published. */
  readonly codecs?: Codecs
  /** The codes that peers with a handshake are refused with. Default `spec`. */
  readonly refusals?: RefusalProfile
  /** Refuse a result that its revision can only express with a loss. Default false. */
  readonly strict?: boolean
  /** Told of everything that a revision could not express. */
  readonly onLoss?: (loss: Loss) => void
  readonly logger?: Logger
  /** Milliseconds that the client has to answer what it is asked while a call waits. Default 5 minutes. */
  readonly askTimeoutMs?: number
}

/** Every published revision; compiled for the first door that is opened, so that importing this costs little. */
let published: Codecs | undefined
const defaultAskTimeoutMs = 5 * 60_000

/** The ports of the servers made here, so that a door seals and stores with what its server does. */
const portsOf = new WeakMap<Served, ServerPorts>()
const warned = new WeakSet<Served>()
const unseen = new WeakSet<Served>()

/** Makes a server value. @throws if a primitive cannot be compiled, or if two have one name; the error names it */
export function createServer<const Tools extends readonly ToolValue[] = readonly []>(
  options: ServerOptions & StateOptions & { readonly tools?: Tools },
): Server<Tools[number]> {
  const ports = makePorts(options)
  const server = createServerOver(options, ports) as Server<Tools[number]>
  portsOf.set(server, ports)
  return server
}

function makePorts({
  store,
  keys,
  clock = Date.now,
  random = createRandom(),
  logger: given,
}: StateOptions): ServerPorts {
  const logger = guarded(given)
  const kept = store ?? memoryStore({ clock })
  return { store: kept, seal: sealOf(keys, kept, { clock, random, logger }), clock, random, logger }
}

function sealOf(
  keys: StateOptions['keys'],
  store: Store,
  ports: Pick<ServerPorts, 'clock' | 'random' | 'logger'>,
): Seal {
  if (keys) return createSeal({ keys, ...ports })
  if (store.durable) return createStoredSeal({ store, ...ports })
  return sealOnDemand(() => createSeal({ keys: [randomKey(ports.random)], ...ports }))
}

/** A seal that is made when it is first used: most servers whose store is their memory never seal anything. */
function sealOnDemand(make: () => Seal): Seal {
  let made: Seal | undefined
  const seal = (): Seal => (made ??= make())
  return { seal: (...value) => seal().seal(...value), open: (...text) => seal().open(...text) }
}

/** Warns, once for each server, that what it seals and keeps ends with this process. */
export function warnOfMemory(served: Served, { store, logger }: ServerPorts): void {
  if (store.durable || warned.has(served)) return
  warned.add(served)
  logger.warn('state is kept in memory alone: nothing of it outlives this process, and no replica shares it')
}

/** Warns, once for each server, of a door that knows nobody before primitives that only somebody sees. */
export function warnOfNobody(served: Served, who: unknown, { logger }: Pick<ServerPorts, 'logger'>): void {
  if (who !== undefined || unseen.has(served) || !hidesAnything(served)) return
  unseen.add(served)
  logger.warn('some of what is registered asks for scopes, but this door knows nobody: no caller of it will see that')
}

/** What a door needs besides the peer: the ports of the server behind it. */
export function portsFor(served: Served, logger: Logger | undefined): ServerPorts {
  const known = portsOf.get(served)
  if (known) return logger ? { ...known, logger: guarded(logger) } : known
  const fresh = makePorts(logger ? { logger } : {})
  portsOf.set(served, fresh)
  return fresh
}

/** The serving side of the protocol for `served`, as `options` say. @throws if a revision to serve is not known */
export function peerFor(served: Served, options: SpeakOptions & { readonly caps?: Partial<Caps> }): Peer {
  const { maxPendingAsks, maxSubscriptions } = { ...defaultCaps, ...options.caps }
  const { clock, random, logger } = portsFor(served, options.logger)
  const codecs = options.codecs ?? (published ??= createCodecs())
  return createPeer({
    served,
    codecs: options.revisions ? codecs.pin(options.revisions) : codecs,
    refusals: options.refusals ?? 'spec',
    strict: options.strict ?? false,
    onLoss: options.onLoss ?? (() => {}),
    logger,
    clock,
    random,
    askTimeoutMs: options.askTimeoutMs ?? defaultAskTimeoutMs,
    maxPendingAsks,
    maxSubscriptions,
  })
}
