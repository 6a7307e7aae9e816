import { createServer, type SpeakOptions } from '../defaults.ts'
import { isObject, own } from '../model/json.ts'
import type { Served } from '../model/served.ts'
import type { Target } from '../peer/link.ts'
import { tool } from '../server/tool.ts'
import { defaultCaps } from '../wire/caps.ts'
import { parseJson } from '../wire/json.ts'
import type { BrokenDoor, OpenDoor } from './broken-door.ts'
import { brokenFaults, type BrokenFault, type Fault } from './broken-faults.ts'
import { openHttp } from './broken-http.ts'
import { openMemory, openSocket } from './broken-line.ts'

/** How a broken server is reached, and what it speaks. */
export interface BrokenServerOptions extends Pick<SpeakOptions, 'revisions'> {
  /** `memory`, the default; `socket` is TCP with one message a line, `http` Streamable HTTP, both on the loopback interface. */
  readonly over?: 'memory' | 'socket' | 'http'
  /** How many calls go wrong before all is well; all of them by default. */
  readonly times?: number
}

/** A server that is broken in one way. Disposing of it closes it. */
export interface BrokenServer extends AsyncDisposable {
  /** Where a client connects to. */
  readonly target: Target
  /** The same as a URL, over `http`. */
  readonly url: string | undefined
  /** The calls of tools that arrived, by the names of the tools. */
  readonly calls: readonly string[]
  close(): Promise<void>
}

/**
 * Starts a server that is broken as `fault` says, to see what a client makes of it. It has two tools without arguments:
 * `write`, of which nothing is known, and `read`, which declares that it only reads, so that a client may call it again.
 */
export async function brokenServer(fault: BrokenFault, options: BrokenServerOptions = {}): Promise<BrokenServer> {
  const { over = 'memory', times = Infinity, revisions } = options
  const { call, serve }: Fault = brokenFaults[fault]
  const calls: string[] = []
  const open: OpenDoor = {
    served: serve === undefined ? sound() : serve(sound()),
    options: revisions === undefined ? {} : { revisions },
    takes(text) {
      const name = calledTool(text)
      if (name === undefined) return undefined
      calls.push(name)
      return calls.length > times ? undefined : call
    },
  }
  const door = await doors[over](open)
  const close = (): Promise<void> => door.close()
  return { target: door.target, url: door.url, calls, close, [Symbol.asyncDispose]: close }
}

const doors: Readonly<Record<'memory' | 'socket' | 'http', (open: OpenDoor) => Promise<BrokenDoor>>> = {
  memory: openMemory,
  socket: openSocket,
  http: openHttp,
}

function sound(): Served {
  return createServer({
    name: 'broken',
    version: '1.0.0',
    tools: [
      tool('write', { description: 'Does something' }, () => 'done'),
      tool('read', { description: 'Reads something', annotations: { readOnlyHint: true } }, () => 'done'),
    ],
  })
}

/** The name of the tool that a message calls, if it calls one. */
function calledTool(text: string): string | undefined {
  const { value } = parseJson(text, defaultCaps)
  if (!isObject(value) || own(value, 'method') !== 'tools/call') return undefined
  const params = own(value, 'params') ?? null
  const name = isObject(params) ? own(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}
