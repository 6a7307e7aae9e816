import { setTimeout as delay } from 'node:timers/promises'
import type { Outcome } from '../durable/claim.ts'
import type { Claiming, Held, Known, Settling } from '../durable/claims.ts'
import { digest, fingerprint } from '../durable/digest.ts'
import type { Flow } from '../durable/flow.ts'
import type { Call, CallToolResult, CreateTaskResult, InputRequiredResult } from '../model/call.ts'
import { andThen, isLater, type Awaitable } from '../model/at-once.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { isRefusal, Refusal, type RefusalKind } from '../model/refusal.ts'
import type { CallContext } from '../model/served.ts'
import type { ToolEntry } from './entry.ts'
import type { Round } from './round.ts'
import { stateTtlMs, type Run } from './run.ts'
import { timerMs } from '../model/timer.ts'

/** The `_meta` key under which a client names the effect that it wants once. */
const metaKey = 'dev.dragoman/idempotencyKey'
/** The `_meta` key that marks a result told again. */
const replayedKey = 'dev.dragoman/replayed'
/** Request ids are a weaker promise than keys, so what they named is forgotten sooner. Milliseconds. */
const keepRequestIdsMs = 5 * 60_000
const maxKeyLength = 256
/** How often a call that joins another looks whether that has ended. Milliseconds. */
const joinWaitMs = { first: 20, most: 500 }
/** An answer waits this long for its record. Milliseconds. */
const recordWaitMs = 2_000

/** A call that is to run at most once, and under what name. */
export interface OnceKey {
  /** Names the flow; the claim, the state and the keys of its steps go by it. */
  readonly flow: string
  /** The client's key that the flow goes by, too. Where that is another name, it is claimed as well. */
  readonly key?: string | undefined
  /** What stands for the arguments, where the flow's name is bound to them already. */
  readonly arguments?: string
  readonly keepMs?: number
}

/**
 * Under which key a call runs once, if under any: the state it brings, the client's own, or (before 2026-07-28) its
 * request id. Scoped by who calls and what. A state goes first, since it stands for what the client was asked and
 * agreed to: however it is sent again, and with whatever key, that is done once. What only reads may always run again,
 * so that it takes the place of no record, unless it leaves a task behind.
 * @throws Refusal `MalformedParams` for a key that is none, `KeyConflict` for a state that goes by another key
 */
export function onceKey(entry: ToolEntry, { call, context }: Run, flow: Flow | undefined): OnceKey | undefined {
  const scope = [context.principal?.id ?? null, entry.key]
  const given = givenKey(call, context)
  const key = given === undefined ? undefined : digest('key', ...scope, given)
  if (flow !== undefined) {
    if (key !== undefined && flow.key !== undefined && flow.key !== key) throw new Refusal('KeyConflict')
    return { flow: flow.id, key: flow.key ?? (onlyReads(entry) ? undefined : key) }
  }
  if (onlyReads(entry)) return undefined
  if (key !== undefined) return { flow: key, key }
  if (context.requestKey === undefined || entry.value.config.annotations?.readOnlyHint) return undefined
  const flowId = digest('request', ...scope, context.requestKey, call.params.arguments ?? {})
  return { flow: flowId, arguments: '', keepMs: keepRequestIdsMs }
}

function onlyReads({ value: { config } }: ToolEntry): boolean {
  return config.annotations?.readOnlyHint === true && (config.task ?? 'never') === 'never'
}

function givenKey({ meta }: Call, context: CallContext): string | undefined {
  const said = own(meta, metaKey)
  // A key that is null is none: it must not make way for another, or for no key at all.
  const given = said === undefined ? context.header?.('idempotency-key') : said
  if (given === undefined) return undefined
  if (typeof given !== 'string' || given === '' || given.length > maxKeyLength) throw new Refusal('MalformedParams')
  return given
}

type Answer = CallToolResult | InputRequiredResult | CreateTaskResult

/** A call that has a key. */
interface Keyed {
  readonly run: Run
  readonly round: Round
  readonly go: (again: boolean) => Awaitable<Answer>
  /** Whether the handler was begun. */
  readonly begun: () => boolean
}

/**
 * Claims the call, runs it if that falls to us, and records what it came to; otherwise tells what is known. Without
 * waiting where neither the store nor the handler does.
 * @throws Refusal `DuplicateInFlight`, `KeyConflict`, `OutcomeUnknown`, `IdempotencyUnavailable`, `StoreFull`
 */
export function once(
  key: OnceKey,
  round: Round,
  entry: ToolEntry,
  run: Run,
  go: (again: boolean) => Awaitable<Answer>,
  begun: () => boolean,
): Awaitable<Answer> {
  const keyed = { run, round, go, begun }
  return andThen(claim(key, round.flow, entry, run), (claimed) =>
    'kind' in claimed ? answerKnown(claimed) : runHeld(claimed, keyed),
  )
}

function runHeld(held: Held, keyed: Keyed): Awaitable<Answer> {
  // Whoever comes again with the key is told what became of the call, so it goes on without its caller.
  keyed.run.context.detach()
  keyed.round.heldBy(held)
  try {
    const answer = keyed.go(held.again)
    return isLater(answer) ? finished(held, answer, keyed) : recorded(held, answer, keyed)
  } catch (thrown) {
    return ended(held, thrown, keyed)
  }
}

async function finished(held: Held, going: Promise<Answer>, keyed: Keyed): Promise<Answer> {
  try {
    return await recorded(held, await going, keyed)
  } catch (thrown) {
    return ended(held, thrown, keyed)
  }
}

/** @throws Refusal `OutcomeUnknown` for the error of a run that was taken over: it is not what the call came to */
function recorded(held: Held, answer: Answer, { run }: Keyed): Awaitable<Answer> {
  if (held.lost !== undefined && 'isError' in answer && answer.isError) throw held.lost
  const written = record(held, answer, run)
  return written === undefined ? answer : written.then(() => answer)
}

/** @throws what was thrown, or that the run was taken over */
function ended(held: Held, thrown: unknown, { run, begun }: Keyed): never {
  void held.settle(begun() ? endOf(thrown, run) : unused(held))
  throw held.lost ?? thrown
}

function claim(key: OnceKey, flow: Flow | undefined, entry: ToolEntry, run: Run): Awaitable<Held | Known> {
  const { core, call } = run
  const attempt = {
    arguments: key.arguments ?? fingerprint(call.params.arguments ?? {}),
    round: flow?.round ?? 0,
    answers: flow === undefined || flow.round === 0 ? '' : digest(flow.answers),
    rerun: entry.value.config.rerun === 'safe',
  }
  const take = (id: string): Awaitable<Held | Known> => {
    const claiming: Claiming =
      key.keepMs === undefined
        ? { id, attempt, stateMs: stateTtlMs(core), byStateAlone: id !== key.key }
        : { id, attempt, keepMs: key.keepMs }
    return core.options.once?.whileRunning === 'join' ? joined(claiming, run) : core.claims.claim(claiming)
  }
  return key.key === undefined || key.key === key.flow ? take(key.flow) : bothTaken(key.key, key.flow, take)
}

/** Claims a flow that was begun without a key, and the key that came later: the key first, so that it is never too late. */
async function bothTaken(
  key: string,
  flow: string,
  take: (id: string) => Awaitable<Held | Known>,
): Promise<Held | Known> {
  const keyed = await take(key)
  if ('kind' in keyed) return keyed
  let own: Held | Known
  try {
    own = await take(flow)
  } catch (error) {
    void keyed.settle(unused(keyed))
    throw error
  }
  if ('kind' in own) {
    void keyed.settle(unused(keyed))
    // It ran already, and not by this key.
    return own.kind === 'replay' ? { kind: 'conflict' } : own
  }
  const held = [own, keyed]
  return {
    again: held.some(({ again }) => again),
    isNew: held.every(({ isNew }) => isNew),
    get lost() {
      return own.lost ?? keyed.lost
    },
    isOurs: () => andThen(own.isOurs(), (isOurs) => isOurs && keyed.isOurs()),
    onLost: (listener) => held.forEach((each) => each.onLost(listener)),
    settle: (event) => {
      const written = held.map((each) => each.settle(event)).filter((each) => isLater(each))
      return written.length > 0 ? Promise.all(written).then(() => {}) : undefined
    },
  }
}

/** What becomes of a claim that nothing was run for: all is as before, and where something ran then, that must not be forgotten. */
function unused({ isNew }: Held): Settling {
  return { kind: isNew ? 'release' : 'lose' }
}

/** Waits while the key is running. */
async function joined(claiming: Claiming, { core, context }: Run): Promise<Held | Known> {
  for (let waitMs = joinWaitMs.first; ; waitMs = Math.min(waitMs * 2, joinWaitMs.most)) {
    const claimed = await core.claims.claim(claiming)
    if (!('kind' in claimed) || claimed.kind !== 'busy') return claimed
    await delay(timerMs(waitMs), undefined, { signal: context.signal })
  }
}

function answerKnown(known: Known): Answer {
  switch (known.kind) {
    case 'replay':
      return replayed(known.outcome)
    case 'busy':
      throw new Refusal('DuplicateInFlight')
    case 'conflict':
      throw new Refusal('KeyConflict')
    case 'gone':
      throw new Refusal('OutcomeUnknown', {
        data: { since: new Date(known.since).toISOString(), ended: true },
        ran: 'yes',
      })
    case 'unknown':
      throw new Refusal('OutcomeUnknown', { data: { since: new Date(known.since).toISOString() }, ran: 'unknown' })
  }
}

/** Records what a call came to. Something to wait for only where others have to find the record. @throws Refusal `Unserializable` */
function record(held: Held, answer: Answer, { core }: Run): Promise<void> | undefined {
  // What is none is refused when it is written down.
  const outcome = { result: answer as Json }
  if (answer.resultType !== 'input_required') {
    void held.settle({ kind: 'complete', outcome })
    return undefined
  }
  const goodUntil = core.ports.clock() + stateTtlMs(core)
  const written = held.settle({ kind: 'suspend', outcome, goodUntil })
  // The next round may come to another replica, so it must find this one's record.
  return isLater(written) ? briefly(written) : undefined
}

/**
 * What a run came to that threw: its refusal, unless it stopped somewhere on the way. Then nobody knows, and a tool that
 * may run again does so, with the steps that are recorded.
 */
function endOf(thrown: unknown, { context }: Run): Settling {
  const stopped = isRefusal(thrown) ? thrown.kind === 'OutcomeUnknown' : context.signal.aborted
  return stopped ? { kind: 'lose' } : { kind: 'complete', outcome: { refusal: refusalOf(thrown) } }
}

/** Waits for a record, but not for a store that is away: then the answer goes out first. */
async function briefly(written: Promise<void>): Promise<void> {
  const giveUp = new AbortController()
  const late = delay(recordWaitMs, undefined, { signal: giveUp.signal, ref: false }).catch(() => {})
  await Promise.race([written, late])
  giveUp.abort()
}

/** What was thrown, as it can be kept. */
export function refusalOf(thrown: unknown): Extract<Outcome, { readonly refusal: unknown }>['refusal'] {
  if (!isRefusal(thrown)) return { kind: 'InternalError' }
  const { kind, data, words } = thrown
  return { kind, ...(isKeepable(data) && { data }), ...(typeof words === 'string' && { message: words }) }
}

/** Whether what a refusal says besides can be recorded; nothing else keeps it from being made of what is no JSON. */
function isKeepable(data: JsonObject | undefined): data is JsonObject {
  try {
    return isObject(data) && JSON.stringify(data) !== undefined
  } catch {
    return false
  }
}

function replayed(outcome: Outcome): Answer {
  if ('refusal' in outcome) {
    const { kind, data, message } = outcome.refusal
    // Recorded by `refusalOf`, so the kind is one and data is an object.
    throw new Refusal(kind as RefusalKind, {
      ...(data !== undefined && { data: data as JsonObject }),
      ...(message !== undefined && { message }),
      ran: 'yes',
    })
  }
  const result = outcome.result as Answer & JsonObject
  return { ...result, _meta: { ...result._meta, [replayedKey]: true } }
}
