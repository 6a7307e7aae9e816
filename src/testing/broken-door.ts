import type { SpeakOptions } from '../defaults.ts'
import type { Served } from '../model/served.ts'
import type { Target } from '../peer/link.ts'
import type { BrokenCall } from './broken-call.ts'

/** What a way to a broken server is made of. */
export interface OpenDoor {
  /** The server behind it, sound but for what is wrong with what it serves. */
  readonly served: Served
  readonly options: SpeakOptions
  /** What is to become of a message, given as its text; `undefined`: nothing wrong. */
  takes(text: string): ((call: BrokenCall) => void) | undefined
}

/** A way to a broken server. */
export interface BrokenDoor {
  readonly target: Target
  /** Where it has one. */
  readonly url?: string
  close(): Promise<void>
}
