import { peerFor, portsFor, warnOfNobody, type SpeakOptions } from './defaults.ts'
import type { Served } from './model/served.ts'
import { serveStdio as servePeer, type StdioOptions } from './transport/serve/stdio.ts'

/** What the door on standard input and output can be told. */
export type StdioDoorOptions = SpeakOptions & StdioOptions

/** Serves standard input and output, every revision in one process. Resolves once the input has ended and all is answered. */
export async function serveStdio(served: Served, options: StdioDoorOptions = {}): Promise<void> {
  const { logger } = portsFor(served, options.logger)
  warnOfNobody(served, options.principal, { logger })
  await servePeer(peerFor(served, options), { ...options, logger }).closed
}
