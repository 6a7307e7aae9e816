import { CallFailed, isFailure } from '../model/failure.ts'
import type { Tool } from '../model/nouns.ts'
import type { Refusal } from '../model/refusal.ts'
import type { Breaker } from './breaker.ts'
import type { Client } from './client.ts'
import { within, type Patience } from './patience.ts'
import type { ToolNames } from './tool-names.ts'

/** A tool of one among many servers, as it is listed, under the name that it has among them all. */
export interface ServerTool extends Tool {
  /** The server's name in the configuration. */
  readonly server: string
  /** What the server itself calls the tool. */
  readonly tool: string
}

/** What one of many servers is made of. */
export interface MemberOptions {
  readonly name: string
  readonly names: ToolNames
  readonly breaker: Breaker
  /** @param signal aborted once the client is not wanted any more */
  connect(signal: AbortSignal): Promise<Client>
  /** Hears each time that the server fails. */
  failed(failure: Refusal | CallFailed): void
}

/** One of many servers, connected when it is first wanted. */
export interface Member {
  readonly name: string
  /** Why the server could not be connected, or listed nothing, when that was last tried. */
  readonly failure: Refusal | CallFailed | undefined
  /** @throws Refusal, CallFailed: of connecting, or `CircuitOpen` while it is left alone after it failed too often */
  client(patience?: Patience): Promise<Client>
  /** Its tools. @throws Refusal, CallFailed */
  tools(patience?: Patience): Promise<readonly ServerTool[]>
  /** The same, of a list that the client just gave. */
  take(list: readonly Tool[]): readonly ServerTool[]
  /** What the server calls a tool that was last listed under `name`. */
  known(name: string): string | undefined
  /** Notes and tells a failure that was met on the way. Returns it as what a client rejects with. */
  fail(error: unknown): Refusal | CallFailed
  close(): Promise<void>
}

/** Makes one. Whoever wants it while it is being connected waits for the same client. */
export function createMember({ name, names, breaker, connect, failed }: MemberOptions): Member {
  let client: Client | undefined
  let connecting: Promise<Client> | undefined
  let failure: Refusal | CallFailed | undefined
  const closing = new AbortController()
  let taken: { readonly list: readonly Tool[]; readonly tools: readonly ServerTool[] } = { list: [], tools: [] }

  async function open(): Promise<Client> {
    breaker.enter()
    try {
      const made = await connect(closing.signal)
      breaker.succeeded()
      failure = undefined
      client = made
    } catch (error) {
      breaker.failed()
      throw member.fail(error)
    }
    if (!closing.signal.aborted) return client
    await client.close()
    throw closedFailure()
  }

  const member: Member = {
    name,
    get failure() {
      return failure
    },
    async client(patience = {}) {
      if (closing.signal.aborted) throw closedFailure()
      if (client) return client
      connecting ??= open().finally(() => (connecting = undefined))
      return within(connecting, patience, 'The server took too long to connect')
    },
    async tools(patience = {}) {
      return member.take(await (await member.client(patience)).tools(patience))
    },
    take(list) {
      failure = undefined
      if (taken.list !== list) {
        taken = { list, tools: list.map((tool) => ({ ...tool, ...called(tool.name) })) }
      }
      return taken.tools
    },
    known: (wanted) => taken.tools.find((tool) => tool.name === wanted)?.tool,
    fail(error) {
      const found = asFailure(error)
      // Somebody closed the client of just this server: the next one to want it gets another.
      if (found.kind === 'Cancelled') client = undefined
      if (closing.signal.aborted || isOld(found, failure)) return found
      failure = found
      failed(found)
      return found
    },
    async close() {
      closing.abort(closedFailure())
      await client?.close()
      await connecting?.catch(() => {})
    },
  }

  function called(tool: string): Pick<ServerTool, 'name' | 'server' | 'tool'> {
    return { name: names.toName(name, tool), server: name, tool }
  }
  return member
}

/** Whether `found` tells nothing new: it is the same once more, or that the server is left alone since it failed. */
function isOld(found: Refusal | CallFailed, known: Refusal | CallFailed | undefined): boolean {
  return found === known || (known !== undefined && found.kind === 'CircuitOpen')
}

function asFailure(error: unknown): Refusal | CallFailed {
  if (isFailure(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  return new CallFailed('Unreachable', { ran: 'no', message, cause: error })
}

function closedFailure(): CallFailed {
  return new CallFailed('Cancelled', { ran: 'no', message: 'The client is closed' })
}
