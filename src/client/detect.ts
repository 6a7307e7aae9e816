import { setTimeout as delay } from 'node:timers/promises'
import { timerMs } from '../model/timer.ts'
import { CallFailed, isCallFailed, isFailure } from '../model/failure.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Caller, Codec, Codecs, Introduction, Transport } from '../peer/calling.ts'
import type { Link, Target } from '../peer/link.ts'
import type { Verdict } from './verdicts.ts'

/** How a server's age is found out. */
export interface Detecting {
  readonly target: Target
  /** What the client is willing to speak. */
  readonly codecs: Codecs
  /** Milliseconds of silence after which a server that shares one stream is taken to know no probe. */
  readonly silenceMs: number
  /** Milliseconds for each answer. */
  readonly timeoutMs: number
  /** What was found out before. */
  readonly verdict: Verdict | undefined
  readonly now: () => number
  caller(link: Link): Caller
}

/** A caller that agreed with its server, and what was found out on the way. */
export interface Detected {
  readonly caller: Caller
  readonly verdict: Verdict
}

/** Over these each answer comes by itself; on the others a server can be silent and alive. */
const separate: ReadonlySet<Transport> = new Set(['http', 'http+sse'])

/** Milliseconds between two answers of a server that read both requests at once. */
const togetherMs = 250

/** What a probe came to. */
type Probed =
  | { readonly kind: 'modern'; readonly codec: Codec; readonly introduction: Introduction }
  | { readonly kind: 'handshake'; readonly offer: Codec | undefined; readonly introduction?: Introduction }
  | { readonly kind: 'died'; readonly failure: CallFailed }

/**
 * Connects to a target and agrees with its server, whatever its age: by what was found out before, else by a probe that
 * stands alone, else by a handshake, else by the next transport (versioning, compatibility matrix).
 * @throws CallFailed, Refusal. Credentials, limits and breakdowns (401, 403, 429, 5xx) are thrown as they are, since they
 * say nothing of a server's age; `NoCommonRevision` where there is nothing to agree on
 */
export async function detect(detecting: Detecting): Promise<Detected> {
  const { verdict } = detecting
  if (verdict && isUsable(verdict, detecting)) {
    try {
      return await onTransport(verdict.transport, detecting, verdict)
    } catch (error) {
      if (!asksAnew(error)) throw error
    }
  }
  let first: Error | undefined
  for (const transport of detecting.target.transports) {
    if (!codecsOn(transport, detecting.codecs).length) continue
    try {
      return await onTransport(transport, detecting, undefined)
    } catch (error) {
      if (!isFailure(error)) throw error
      first ??= error
      if (!triesNext(error)) throw first
    }
  }
  throw first ?? noCommon([])
}

function isUsable({ lifecycle, transport }: Verdict, { target, codecs }: Detecting): boolean {
  return target.transports.includes(transport) && codecs.all.some((codec) => codec.lifecycle === lifecycle)
}

/** The revisions to try on a transport. Servers speak over Streamable HTTP also what is older than that. */
function codecsOn(transport: Transport, codecs: Codecs): readonly Codec[] {
  return transport === 'http+sse' ? codecs.all.filter((codec) => codec.features.has('sse')) : codecs.all
}

async function onTransport(
  transport: Transport,
  detecting: Detecting,
  verdict: Verdict | undefined,
): Promise<Detected> {
  const usable = codecsOn(transport, detecting.codecs)
  const modern = usable.find(
    (codec) => codec.lifecycle === 'request' && (verdict?.lifecycle ?? 'request') === 'request',
  )
  const offer = usable.find((codec) => codec.lifecycle === 'session')
  let caller = await opened(transport, detecting)
  try {
    let dies = verdict?.dies === true
    const probed: Probed = modern
      ? await probe(caller, modern, offer, detecting)
      : { kind: 'handshake', offer: undefined }
    const at = modern || !verdict ? detecting.now() : verdict.at
    if (probed.kind === 'modern') return await agreed(caller, probed.codec, probed.introduction, { at })
    if (probed.kind === 'died') {
      if (!offer) throw probed.failure
      await caller.close()
      dies = true
      caller = await opened(transport, detecting)
    }
    if (!offer) throw noCommon([])
    const introduction =
      (probed.kind === 'handshake' ? probed.introduction : undefined) ??
      (await shakeHands(caller, (probed.kind === 'handshake' ? probed.offer : undefined) ?? offer, detecting))
    const codec = detecting.codecs.get(introduction.revision)
    if (codec?.lifecycle !== 'session') throw noCommon([introduction.revision])
    return await agreed(caller, codec, introduction, { at, ...(dies && { dies }) })
  } catch (error) {
    await caller.close()
    throw error
  }
}

async function opened(transport: Transport, { target, caller: make }: Detecting): Promise<Caller> {
  const caller = make(target.link(transport))
  try {
    await caller.open()
    return caller
  } catch (error) {
    await caller.close()
    throw error
  }
}

async function agreed(
  caller: Caller,
  codec: Codec,
  introduction: Introduction,
  found: Pick<Verdict, 'at' | 'dies'>,
): Promise<Detected> {
  await caller.agree(codec, introduction)
  const { lifecycle, revision } = codec
  return { caller, verdict: { lifecycle, revision, transport: caller.transport, ...found } }
}

/** Asks what the server is; a server that may be silent is offered a handshake after a while, and the first to agree wins. */
async function probe(caller: Caller, codec: Codec, offer: Codec | undefined, detecting: Detecting): Promise<Probed> {
  const asked = discovered(caller, codec, detecting, true)
  if (separate.has(caller.transport) || !offer) return asked
  const giveUp = new AbortController()
  const silence = delay(timerMs(detecting.silenceMs), undefined, { signal: giveUp.signal }).catch(() => undefined)
  const probed = await Promise.race([asked, silence]).finally(() => giveUp.abort())
  if (probed) return probed
  // The process may only be slow to start: then it reads both, and answers the one soon after the other.
  const shaken = shakeHands(caller, offer, detecting).then((introduction): Probed => ({
    kind: 'handshake',
    offer,
    introduction,
  }))
  const known = asked.then((found) => (found.kind === 'handshake' ? shaken : found))
  const settled = shaken.then(async (found) => {
    await delay(timerMs(Math.min(togetherMs, detecting.silenceMs)))
    return found
  })
  return Promise.any([known, settled]).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors.at(-1) : error
  })
}

async function shakeHands(caller: Caller, offer: Codec, detecting: Detecting): Promise<Introduction> {
  try {
    return await caller.initialize(offer, detecting)
  } catch (error) {
    const supported = isRefusal(error) && error.kind === 'UnsupportedVersion' ? error.data?.supported : undefined
    throw Array.isArray(supported) ? noCommon(supported.filter((one) => typeof one === 'string')) : error
  }
}

async function discovered(caller: Caller, codec: Codec, detecting: Detecting, again: boolean): Promise<Probed> {
  try {
    const introduction = await caller.discover(codec, detecting)
    return chosen(codec, introduction, detecting)
  } catch (error) {
    const supported = supportedIn(error)
    if (supported) return pick(caller, supported, detecting, again)
    return judged(error, caller.transport)
  }
}

/** What to speak with a server that answered. It speaks the revision that it was asked in, whatever it lists. */
function chosen(codec: Codec, introduction: Introduction, { codecs }: Detecting): Probed {
  const common = codecs.all.filter(({ revision }) => introduction.supported.includes(revision))
  const best = common.find(({ lifecycle }) => lifecycle === 'request')
  if (best || common.length === 0) return { kind: 'modern', codec: best ?? codec, introduction }
  return { kind: 'handshake', offer: common[0] }
}

/** The revisions that a recognised refusal of the revision names (-32022). */
function supportedIn(error: unknown): readonly string[] | undefined {
  if (!isRefusal(error) || error.kind !== 'UnsupportedVersion' || error.code !== -32022) return undefined
  const supported = error.data?.supported
  return Array.isArray(supported) ? supported.filter((one) => typeof one === 'string') : []
}

/** Chooses among what a server says it serves. It may name what it refused a moment ago, which is tried once more. */
async function pick(
  caller: Caller,
  supported: readonly string[],
  detecting: Detecting,
  again: boolean,
): Promise<Probed> {
  const common = detecting.codecs.all.filter(({ revision }) => supported.includes(revision))
  const modern = common.find(({ lifecycle }) => lifecycle === 'request')
  if (modern && again) return discovered(caller, modern, detecting, false)
  const offer = common.find(({ lifecycle }) => lifecycle === 'session')
  // Some list only what needs no handshake, and take one all the same.
  if (offer || detecting.codecs.newestWithHandshake) return { kind: 'handshake', offer }
  throw noCommon(supported)
}

/** What a failed probe says: of the server's age, or of something else, which is thrown. */
function judged(error: unknown, transport: Transport): Probed {
  if (isRefusal(error) && !telling.has(error.kind)) return { kind: 'handshake', offer: undefined }
  if (!isCallFailed(error)) throw error
  if (error.kind === 'ProtocolViolation') return { kind: 'handshake', offer: undefined }
  if (error.kind === 'HttpStatus' && isOfAge(error.status)) return { kind: 'handshake', offer: undefined }
  const died = error.kind === 'ServerExited' || error.kind === 'ConnectionLost'
  if (died && !separate.has(transport)) return { kind: 'died', failure: error }
  throw error
}

/** Refusals that say something else than that the probe is not known: of a modern server, or of no server at all. */
const telling: ReadonlySet<string> = new Set([
  'HeaderMismatch',
  'MissingClientCapability',
  'Unauthenticated',
  'InsufficientScope',
  'RateLimited',
  'Overloaded',
])

/** Whether an HTTP status can be what an older server makes of a request that it does not know. */
function isOfAge(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status)
}

/**
 * Whether a failed handshake leaves room for an older transport (2025-11-25, transports, backwards compatibility): by its
 * status, or by a refusal of what such a server takes for no message at all.
 */
function triesNext(error: unknown): boolean {
  if (isRefusal(error)) return error.kind === 'InvalidRequest' || error.kind === 'UnknownMethod'
  return isCallFailed(error) && error.kind === 'HttpStatus' && [400, 404, 405].includes(error.status ?? 0)
}

/** Whether a failure may mean that what was found out before is true no more. */
function asksAnew(error: unknown): boolean {
  if (isRefusal(error)) return !telling.has(error.kind) || error.kind === 'HeaderMismatch'
  if (!isCallFailed(error)) return false
  if (error.kind === 'HttpStatus') return isOfAge(error.status)
  return ['ProtocolViolation', 'NoCommonRevision', 'ServerExited', 'ConnectionLost', 'TimedOut'].includes(error.kind)
}

function noCommon(supported: readonly string[]): CallFailed {
  return new CallFailed('NoCommonRevision', {
    ran: 'no',
    message: `The server speaks no revision that the client does${supported.length > 0 ? `, but ${supported.join(', ')}` : ''}`,
    data: { supported },
  })
}
