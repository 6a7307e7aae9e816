import { setTimeout as delay } from 'node:timers/promises'
import { digest } from './digest.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { AskAnswer } from '../model/nouns.ts'
import type { Clock, Random, Seal } from '../model/ports.ts'
import { Refusal } from '../model/refusal.ts'
import { retried } from './retried.ts'
import type { Store } from '../model/store.ts'

/** What a state is good for: one caller, one method, one target, one set of arguments. */
export interface Binding {
  readonly principal: string | undefined
  readonly method: string
  /** The tool, prompt or URI. */
  readonly target: string
  readonly arguments: Json | undefined
}

/** A call that may take several rounds: what was asked, answered and done so far. */
export interface Flow {
  readonly id: string
  /** The client's key that it goes by, too; never another one. */
  readonly key?: string | undefined
  /** 0 before anything was asked. */
  readonly round: number
  /** Digests of the questions that this round's answers belong to, by key. */
  readonly asked: Readonly<Record<string, string>>
  /** Answers so far, each with the digest of its question. */
  readonly answers: Readonly<Record<string, { readonly to: string; readonly answer: AskAnswer }>>
  /** Results of the steps that ran. */
  readonly steps: Readonly<Record<string, Json>>
  /** What the handler keeps for itself. */
  readonly own: Json | undefined
}

/** What flows are sealed, kept and timed with. */
export interface FlowPorts {
  readonly seal: Seal
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds that a state stays good. */
  readonly ttlMs: number
}

/** What was done before the question must not be undone by a store that is away for a moment. */
const sealPatience = { times: 40, everyMs: 250 }
/** Longer states are kept in the store; the client holds the handle. Bytes. */
const spillAbove = 8 * 1024
/** So many of those at most; the oldest gives way. */
const maxSpilled = 10_000

/** A flow that nothing has happened in yet. */
export function newFlow(random: Random): Flow {
  return namedFlow(Buffer.from(random(16)).toString('base64url'))
}

/** A flow that nothing has happened in yet, and that goes by a name of its caller's, who may have a key for it besides. */
export function namedFlow(id: string, key?: string): Flow {
  return { id, key, round: 0, asked: {}, answers: {}, steps: {}, own: undefined }
}

/** The stable key of one step of one flow, to be handed to whoever the step has its effect on. */
export function stepKey(flow: Flow, step: string): string {
  return digest(flow.id, step)
}

/**
 * Seals `flow` into a `requestState` that only `binding` can use. The handler has run by then, so where the store has no
 * room or stays away, nobody can tell what the call came to.
 * @throws Refusal `OutcomeUnknown`
 */
export async function sealFlow(flow: Flow, binding: Binding, ports: FlowPorts): Promise<string> {
  try {
    return await sealed(flow, binding, ports)
  } catch (cause) {
    throw new Refusal('OutcomeUnknown', {
      data: { since: new Date(ports.clock()).toISOString() },
      ran: 'unknown',
      cause,
    })
  }
}

async function sealed(flow: Flow, binding: Binding, ports: FlowPorts): Promise<string> {
  await keysOf(ports.seal)
  const expiresAt = ports.clock() + ports.ttlMs
  const value = { ...flow, bound: boundTo(binding) } as unknown as JsonObject
  const text = ports.seal.seal('state', value, expiresAt)
  if (text.length <= spillAbove) return text
  const handle = Buffer.from(ports.random(16)).toString('base64url')
  const options = { expiresAt, maxInGroup: maxSpilled, evict: 'last' } as const
  await retried(sealPatience, () => ports.store.put(`state/${handle}`, JSON.stringify(value), options))
  return ports.seal.seal('state', { handle }, expiresAt)
}

async function keysOf(seal: Seal): Promise<void> {
  for (let left = sealPatience.times; seal.loading !== undefined; left--) {
    try {
      await seal.loading
    } catch (cause) {
      if (left === 0) throw cause
      await delay(sealPatience.everyMs)
    }
  }
}

/**
 * Opens a `requestState` and takes in the answers that came with it; answers to what was not asked are left out.
 * @throws Refusal `TamperedRequestState` for anything not sealed here for `binding`, `ExpiredRequestState` past its time
 * and for one that the store had to let go, `IdempotencyUnavailable` while the store that keeps a long state is away
 */
export async function openFlow(
  text: string,
  responses: Readonly<Record<string, AskAnswer>> | undefined,
  binding: Binding,
  ports: FlowPorts,
): Promise<Flow> {
  const opened = ports.seal.open('state', text)
  if (opened === 'expired') throw new Refusal('ExpiredRequestState')
  const value = typeof opened?.handle === 'string' ? await spilled(opened.handle, ports) : opened
  if (value === undefined || value.bound !== boundTo(binding)) throw new Refusal('TamperedRequestState')
  return answered(value as unknown as Flow, responses ?? {})
}

async function spilled(handle: string, ports: FlowPorts): Promise<JsonObject> {
  const kept = await ports.store.get(`state/${handle}`).catch((cause: unknown) => {
    throw new Refusal('IdempotencyUnavailable', { cause })
  })
  if (kept === undefined) throw new Refusal('ExpiredRequestState')
  return JSON.parse(kept.value) as JsonObject
}

function boundTo({ principal, method, target, arguments: args }: Binding): string {
  return digest(principal ?? null, method, target, args ?? {})
}

function answered(flow: Flow, responses: Readonly<Record<string, AskAnswer>>): Flow {
  const fresh = Object.entries(flow.asked)
    .filter(([key]) => Object.hasOwn(responses, key) && isObject(responses[key]))
    .map(([key, to]) => [key, { to, answer: responses[key] as AskAnswer }] as const)
  return { ...flow, asked: {}, answers: { ...flow.answers, ...Object.fromEntries(fresh) } }
}
