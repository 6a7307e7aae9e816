import type { Loss } from '../codec/projection.ts'
import type { RefusalProfile } from '../codec/codec.ts'
import { connectInMemory, type ConnectOptions } from '../memory.ts'
import type { Json } from '../model/json.ts'
import type { Served } from '../model/served.ts'
import { readable } from './json-text.ts'
import { createNames, type Names } from './names.ts'
import { silence } from './silence.ts'
import { firstDifference, readTranscript, writeTranscript } from './transcript.ts'

/** What playing a transcript came to. */
export interface Played {
  /** The transcript as it was played: the file that would have passed. */
  readonly text: string
  /** The first turn that differs from what the transcript says, for people; `undefined` when all of it is as written. */
  readonly difference: string | undefined
  /** Everything that crossed, in order, as it crossed. */
  readonly crossed: readonly Crossed[]
}

/** One text that crossed between the client and the server. */
export interface Crossed {
  readonly from: 'client' | 'server'
  readonly text: string
}

/**
 * Plays the client's lines of a transcript to `served`, in memory, and compares what comes back with the server's lines.
 * A turn ends when nothing is left to do but wait, so handlers under test should not sleep. Settings of the file
 * (`@ revisions 2025-06-18`, `@ principal ada read write`, `@ refusals application`, `@ strict`) go before `options`.
 * @throws SyntaxError for a transcript that cannot be read
 */
export async function playTranscript(served: Served, text: string, options: ConnectOptions = {}): Promise<Played> {
  const transcript = readTranscript(text)
  const names = createNames(transcript.values)
  const crossed: Crossed[] = []
  let turn: string[] = []
  const onLoss = (loss: Loss): void => {
    turn.push(`~ ${[loss.rule, loss.path].filter((part) => part !== undefined).join(' ')}`)
  }
  const link = connectInMemory(served, { graceMs: 0, onLoss, ...options, ...connectOptions(transcript.settings) })
  link.onMessage((message) => {
    crossed.push({ from: 'server', text: message })
    turn.push(heardLine(message, names))
  })
  const heard: string[][] = []
  for (const { sent } of transcript.turns) {
    turn = []
    for (const line of sent.map(names.reveal)) {
      crossed.push({ from: 'client', text: line })
      link.send(line)
    }
    await silence(() => turn.length)
    heard.push(turn)
  }
  turn = []
  await link.close()
  return { text: writeTranscript(transcript, heard), difference: firstDifference(transcript, heard), crossed }
}

function heardLine(message: string, names: Names): string {
  return `< ${readable(names.hide(JSON.parse(message) as Json), '  ')}`
}

function connectOptions(settings: ReadonlyMap<string, string>): ConnectOptions {
  const revisions = settings.get('revisions')
  const [id, ...scopes] = words(settings.get('principal'))
  const refusals = settings.get('refusals')
  return {
    ...(revisions !== undefined && { revisions: words(revisions) }),
    ...(id !== undefined && { principal: { id, scopes: new Set(scopes) } }),
    ...(isProfile(refusals) && { refusals }),
    ...(settings.has('strict') && { strict: true }),
  }
}

function isProfile(name: string | undefined): name is RefusalProfile {
  return name === 'spec' || name === 'application'
}

function words(text: string | undefined): string[] {
  return (text ?? '').split(/[\s,]+/).filter((word) => word !== '')
}
