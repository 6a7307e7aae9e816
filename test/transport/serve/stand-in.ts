import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCodecs } from '../../../src/codec/registry.ts'
import type { Call } from '../../../src/model/call.ts'
import type { Json, JsonObject } from '../../../src/model/json.ts'
import type { Change } from '../../../src/model/notification.ts'
import { silent } from '../../../src/model/ports.ts'
import { Refusal } from '../../../src/model/refusal.ts'
import type { CallContext, Description, Served } from '../../../src/model/served.ts'
import { createPeer } from '../../../src/peer/create.ts'
import type { Peer } from '../../../src/peer/peer.ts'

/** Stands behind a peer where the transport is what a test is about. */
export interface StandIn extends Served {
  change(change: Change): void
  /** Calls of `slow` that began. */
  begun: number
  /** Calls of `slow` that were aborted. */
  aborted: number
  readonly listeners: number
}

const text = (said: Json = ''): JsonObject => ({ content: [{ type: 'text', text: said }] })

const description: Description = {
  info: { name: 'stand-in', version: '1' },
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
  hints: {},
}

export function standIn(): StandIn {
  const listeners = new Set<(change: Change) => void>()
  const served: StandIn = {
    begun: 0,
    aborted: 0,
    get listeners() {
      return listeners.size
    },
    change: (change) => listeners.forEach((listener) => listener(change)),
    describe: () => description,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    headerPlan: () => undefined,
    handle: (call, context) => handle(call, context, served),
  }
  return served
}

async function handle(call: Call, context: CallContext, served: StandIn): Promise<JsonObject> {
  if (call.method === 'tools/list') return { tools: [], ttlMs: 0, cacheScope: 'private' }
  if (call.method === 'resources/subscribe') {
    await context.session?.subscribe(call.params['uri'] as string)
    return {}
  }
  if (call.method === 'subscriptions/listen') {
    context.notify({ method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } })
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
    return {}
  }
  if (call.method !== 'tools/call') throw new Refusal('UnknownMethod')
  const args = (call.params['arguments'] ?? {}) as JsonObject
  const act = tools[call.params['name'] as string]
  if (act === undefined) throw new Refusal('UnknownTool')
  return act(args, context, served)
}

type Act = (args: JsonObject, context: CallContext, served: StandIn) => Promise<JsonObject>

const ask: Act = async (_args, context) => {
  const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } } }
  const answer = await context.ask?.({ method: 'elicitation/create', params } as never, 'sure')
  return text(answer?.['action'])
}

const tools: Record<string, Act> = {
  echo: async ({ text: said }) => text(said),
  surroundings: async (_, { header, principal }) =>
    text(`${header?.('idempotency-key')} ${[...(principal?.scopes ?? [])].join()}`),
  async slow({ ms }, { signal }, served) {
    served.begun += 1
    try {
      await sleep(Number(ms), undefined, { signal })
    } catch {
      served.aborted += 1
    }
    return text('done')
  },
  async progress({ steps, ms }, context) {
    for (let step = 1; step <= Number(steps); step++) {
      if (context.progressToken !== undefined) {
        const params = { progressToken: context.progressToken, progress: step }
        context.notify({ method: 'notifications/progress', params })
      }
      await sleep(Number(ms ?? 1))
    }
    return text('done')
  },
  async askLater({ ms }, context, served) {
    await sleep(Number(ms))
    return ask({}, context, served)
  },
  ask,
  async leave(_args, context) {
    context.disconnect(50)
    await sleep(30)
    return text('still here')
  },
}

export function peerOf(served: Served, revisions?: readonly string[]): Peer {
  const codecs = createCodecs()
  return createPeer({
    served,
    codecs: revisions ? codecs.pin(revisions) : codecs,
    refusals: 'spec',
    strict: false,
    onLoss: () => {},
    logger: silent,
    clock: Date.now,
    random: randomBytes,
    askTimeoutMs: 5_000,
    maxPendingAsks: 10,
    maxSubscriptions: 10,
  })
}

export const modernVersion = '2026-07-28'
const prefix = 'io.modelcontextprotocol'

/** A request that says everything itself. */
export function modern(
  id: string | number,
  method: string,
  params: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  const _meta = { [`${prefix}/protocolVersion`]: modernVersion, [`${prefix}/clientCapabilities`]: {}, ...meta }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

export function rpc(id: string | number, method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) }
}

export const call = (id: string | number, name: string, args: JsonObject = {}): JsonObject =>
  rpc(id, 'tools/call', { name, arguments: args, _meta: { progressToken: 'p' } })

export const modernCall = (id: string | number, name: string, args: JsonObject = {}): JsonObject =>
  modern(id, 'tools/call', { name, arguments: args }, { progressToken: 'p' })

export const initialize = (id: string | number, revision: string, capabilities: JsonObject = {}): JsonObject =>
  rpc(id, 'initialize', { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1' } })

export const notification = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  method,
  ...(params && { params }),
})

/** A message, read as loosely as tests read it. */
export interface Heard {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Record<string, Json>
  readonly result?: Record<string, Json> & { readonly content?: readonly { readonly text: string }[] }
  readonly error?: { readonly code: number; readonly message: string }
}

export const said = (message: Heard | undefined): string | undefined => message?.result?.content?.[0]?.text
