import { setTimeout as sleep } from 'node:timers/promises'
import { createCodecs } from '../../../src/codec/registry.ts'
import { isCallFailed, type CallFailed } from '../../../src/model/failure.ts'
import type { JsonObject } from '../../../src/model/json.ts'
import type { Link, LinkAgreement, LinkListener, Outgoing, Received } from '../../../src/peer/link.ts'
import { initialize, modernVersion, notification, type Heard } from '../serve/stand-in.ts'

/** Waits until `test` holds, for at most ten seconds: starting a process takes some where much goes on at once. */
export async function until<T>(test: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(5)) {
    const found = await test()
    if (found !== undefined && found !== false) return found
  }
  throw new Error(`waited in vain for ${test.toString()}`)
}

/** Everything that a link said, in order. */
export interface Recorder extends LinkListener {
  readonly messages: { readonly message: Heard; readonly received: Received }[]
  readonly losses: { readonly id: string | number; readonly failure: CallFailed }[]
  readonly ends: CallFailed[]
  readonly noises: { readonly from: string; readonly text: string }[]
  readonly hearings: boolean[]
  expirations: number
}

export function recorder(): Recorder {
  const heard: Recorder = {
    messages: [],
    losses: [],
    ends: [],
    noises: [],
    hearings: [],
    expirations: 0,
    message: (message, received) => void heard.messages.push({ message, received }),
    lost: (id, failure) => void heard.losses.push({ id, failure }),
    expired: () => void (heard.expirations += 1),
    hears: (hears) => void heard.hearings.push(hears),
    closed: (failure) => void heard.ends.push(failure),
    noise: (from, text) => void heard.noises.push({ from, text }),
  }
  return heard
}

const codecs = createCodecs()

export function agreementOn(revision: string): LinkAgreement {
  const codec = codecs.get(revision)
  if (codec === undefined) throw new Error(`no revision ${revision}`)
  return { revision, http: codec.http }
}

/** The headers that repeat a message that says everything itself. */
export function mirrored(message: JsonObject): Readonly<Record<string, string>> {
  const params = message['params'] as { readonly name?: string } | undefined
  return {
    'mcp-protocol-version': modernVersion,
    'mcp-method': String(message['method']),
    ...(params?.name !== undefined && { 'mcp-name': params.name }),
  }
}

export function outgoing(message: JsonObject, more: Partial<Outgoing> = {}): Outgoing {
  const id = message['id'] as string | number | undefined
  return { text: JSON.stringify(message), ...(message['method'] !== undefined && id !== undefined && { id }), ...more }
}

/** A link that is open, and what is said on it. */
export interface Talk {
  readonly link: Link
  readonly heard: Recorder
  send(message: JsonObject, more?: Partial<Outgoing>): Promise<void>
  /** Sends a request and waits for its answer, or throws what it was lost to. */
  ask(message: JsonObject, more?: Partial<Outgoing>): Promise<Heard>
  /** The answer to a request that was sent. */
  answer(id: unknown): Promise<Heard>
  /** Shakes hands. */
  agree(revision: string): Promise<Heard>
}

export async function talk(link: Link): Promise<Talk> {
  const heard = recorder()
  await link.open(heard)
  const send = (message: JsonObject, more?: Partial<Outgoing>): Promise<void> => link.send(outgoing(message, more))
  const answer = (id: unknown): Promise<Heard> =>
    until(() => {
      const loss = heard.losses.find((one) => one.id === id)
      if (loss !== undefined) throw loss.failure
      return heard.messages.find(({ message }) => message.id === id && message.method === undefined)?.message
    })
  return {
    link,
    heard,
    send,
    answer,
    async ask(message, more) {
      await send(message, more)
      return answer(message['id'])
    },
    async agree(revision) {
      await send(initialize('init', revision))
      const introduction = await answer('init')
      link.agree(agreementOn(revision))
      await send(notification('notifications/initialized'))
      return introduction
    },
  }
}

/** What a promise is rejected with, which has to be a failure of the library. */
export async function failureOf(promise: Promise<unknown>): Promise<CallFailed> {
  try {
    await promise
  } catch (error) {
    if (isCallFailed(error)) return error
    throw error
  }
  throw new Error('nothing failed')
}
