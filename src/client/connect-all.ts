import { CallFailed } from '../model/failure.ts'
import type { JsonObject } from '../model/json.ts'
import { guarded } from '../model/ports.ts'
import { safely } from '../model/safely.ts'
import { Refusal } from '../model/refusal.ts'
import type { Served } from '../model/served.ts'
import type { Target } from '../peer/link.ts'
import type { CommandOptions } from '../transport/dial/stdio.ts'
import type { TargetLike } from '../transport/dial/target.ts'
import { createBreaker } from './breaker.ts'
import type { Client } from './client.ts'
import { createMember, type Member, type ServerTool } from './member.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import type { Patience } from './patience.ts'
import { entriesOf, isDisabled, readEntry, type Variables } from './server-config.ts'
import type { ToolAnswer } from './tool-answer.ts'
import { createToolNames } from './tool-names.ts'
import { watchAll } from './watching-all.ts'

/** How many servers are used as one; what a client may be told goes for each of them. */
export interface ConnectAllOptions extends ClientOptions {
  /**
   * Values for `${NAME}`, `${env:NAME}` and `${NAME:-default}` in the configuration, such as `process.env`. Default: none
   * are replaced. What is in braces stands for a value as a whole, too, such as `input:token`.
   */
  readonly env?: Variables
  /** How commands are run besides what the configuration says. */
  readonly commands?: Pick<CommandOptions, 'inherit' | 'stderr' | 'graceMs' | 'caps'>
  /** What is different for one server, such as its `authorization`. */
  readonly each?: (name: string) => ClientOptions | undefined
  /** Hears each time that a server fails: at once where its entry says of no server where it is, else when it is tried. */
  readonly onFailure?: (server: string, failure: Refusal | CallFailed) => void
}

/** Many servers as one. None of them is connected before it is wanted, and none keeps the others from working. */
export interface Clients extends AsyncDisposable {
  /** The servers that are not disabled, by their names in the configuration and in its order. */
  readonly servers: readonly string[]
  /** The servers that could not be connected, or listed nothing, when that was last tried, and why. Tried again when next wanted. */
  readonly failures: ReadonlyMap<string, Refusal | CallFailed>
  /**
   * The tools of all servers that work, in the order of the configuration. `timeoutMs` is for connecting and for each
   * page of a list; a server that takes longer is left out of this list, and goes on connecting.
   * @throws CallFailed `Cancelled`, and nothing else
   */
  tools(options?: Patience): Promise<readonly ServerTool[]>
  /**
   * The same list as it is now, and each time that it is another: that a server changed it, came or went. Servers are tried
   * again by themselves until the loop is left.
   */
  watchTools(options?: Pick<Patience, 'signal'>): AsyncGenerator<readonly ServerTool[], void, undefined>
  /**
   * Calls a tool by its name among all. Only its server is connected, which is waited for as long as for an answer.
   * @throws Refusal, CallFailed: those of the server, and `UnknownTool`, where the name is that of none
   */
  call(name: string, args?: JsonObject, options?: CallOptions): Promise<ToolAnswer>
  /** The client of one server. @throws Refusal, CallFailed where it cannot be had; TypeError for a name that is not configured */
  client(server: string): Promise<Client>
  /** Closes all clients. Nothing can be called any more. */
  close(): Promise<void>
}

/** What many servers are reached with. */
export interface ConnectAllPorts {
  connect(where: TargetLike | Served, options: ClientOptions): Promise<Client>
  readonly clock: () => number
}

/** Reads a configuration and makes its servers one. @throws TypeError for what is no object */
export function connectAllWith(config: object, options: ConnectAllOptions, ports: ConnectAllPorts): Clients {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new TypeError('A configuration of servers is an object')
  }
  const logger = guarded(options.logger)
  const entries = Object.entries(entriesOf(config))
  // With those that are disabled, which may come back: a name is to go on meaning the same tool.
  const names = createToolNames(entries.map(([name]) => name))
  const members = new Map<string, Member>()
  for (const [name, entry] of entries) if (!isDisabled(entry)) members.set(name, memberOf(name, entry))
  const all = [...members.values()]
  const closing = new AbortController()

  function memberOf(name: string, entry: unknown): Member {
    const given: ClientOptions = { ...options, ...options.each?.(name) }
    const dial = dialOf(name, entry, options)
    const member = createMember({
      name,
      names,
      breaker: createBreaker(given.breaker ?? {}, ports.clock),
      connect: (closed) => {
        if ('fault' in dial) return Promise.reject(dial.fault)
        const signal = given.signal ? AbortSignal.any([given.signal, closed]) : closed
        return ports.connect(dial.where, { ...given, ...dial.options(given), signal })
      },
      failed(failure) {
        logger.warn('a server failed', { server: name, kind: failure.kind, message: failure.message })
        safely(
          () => options.onFailure?.(name, failure),
          (error) => logger.error('a listener threw', { error }),
        )
      },
    })
    if ('fault' in dial) member.fail(dial.fault)
    return member
  }

  /** Each name once: a server that says one twice, or forges another's hash, does not get in the way. */
  function merged(lists: readonly (readonly ServerTool[])[]): readonly ServerTool[] {
    const tools = new Map<string, ServerTool>()
    for (const tool of lists.flat()) {
      if (!tools.has(tool.name)) tools.set(tool.name, tool)
      else logger.warn('a tool is left out, since its name is taken', { server: tool.server, tool: tool.tool })
    }
    return [...tools.values()]
  }

  async function toolsOf(member: Member, patience: Patience): Promise<readonly ServerTool[]> {
    try {
      return await member.tools(patience)
    } catch (error) {
      if (patience.signal?.aborted || closing.signal.aborted) throw error
      member.fail(error)
      return []
    }
  }

  /** What a name with a hash stands for, which only a list can tell. */
  async function lookedUp(
    name: string,
    patience: Patience,
  ): Promise<{ readonly member: Member; readonly tool: string }> {
    const candidates = names.candidates(name).flatMap((server) => members.get(server) ?? [])
    for (const isFresh of [false, true]) {
      if (isFresh) await Promise.all(candidates.map((member) => toolsOf(member, patience)))
      for (const member of candidates) {
        const tool = member.known(name)
        if (tool !== undefined) return { member, tool }
      }
    }
    const down = candidates.find(({ failure }) => failure !== undefined)
    throw down?.failure ?? unknownTool(name)
  }

  async function close(): Promise<void> {
    closing.abort()
    await Promise.all(all.map((member) => member.close()))
  }

  return {
    servers: [...members.keys()],
    get failures() {
      return new Map(all.flatMap(({ name, failure }) => (failure ? [[name, failure] as const] : [])))
    },
    tools: async (patience = {}) => merged(await Promise.all(all.map((member) => toolsOf(member, patience)))),
    watchTools: ({ signal } = {}) => watchAll(all, merged, [closing.signal, ...(signal ? [signal] : [])], options),
    async call(name, args, given = {}) {
      const since = performance.now()
      const patience = patienceOf(given)
      const plain = names.fromName(name)
      const member = plain && members.get(plain.server)
      if (plain && !member) throw unknownTool(name)
      const found = plain && member ? { member, tool: plain.tool } : await lookedUp(name, patience)
      const client = await found.member.client(patience)
      const { maxTimeoutMs: all } = given
      const left = all === undefined ? {} : { maxTimeoutMs: Math.max(1, all - (performance.now() - since)) }
      return client.call(found.tool, args, { ...given, ...left })
    },
    async client(server) {
      const member = members.get(server)
      if (!member) throw new TypeError(`No server that is enabled is called ${JSON.stringify(server)}`)
      return member.client()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** How long a server is waited for on the way to a call. */
function patienceOf({ signal, timeoutMs = Infinity, maxTimeoutMs = Infinity }: CallOptions): Patience {
  const ms = Math.min(timeoutMs, maxTimeoutMs)
  return { ...(signal && { signal }), ...(ms < Infinity && { timeoutMs: ms }) }
}

/** As a server would say it: whoever calls on behalf of somebody else must not take it for a refusal of their own. */
function unknownTool(name: string): Refusal {
  return new Refusal('UnknownTool', {
    code: -32602,
    message: `No server has a tool called ${JSON.stringify(name)}`,
  })
}

type Dial =
  | { readonly fault: CallFailed }
  | { readonly where: TargetLike | Served; options(given: ClientOptions): ClientOptions }

function dialOf(name: string, entry: unknown, { env, commands }: ConnectAllOptions): Dial {
  if (isTarget(entry)) return { where: entry, options: () => ({}) }
  try {
    const server = readEntry(entry, env)
    if ('command' in server) return { where: { ...commands, ...server }, options: () => ({}) }
    const { url, headers, transports } = server
    return {
      where: url,
      options: (given) => ({
        headers: { ...given.headers, ...headers },
        ...(transports && { http: { ...given.http, transports } }),
      }),
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `The entry of the server ${JSON.stringify(name)} ${why}`
    return { fault: new CallFailed('Unreachable', { ran: 'no', message, cause }) }
  }
}

/** Beside what a file can hold, there may be targets and servers of this process. */
function isTarget(entry: unknown): entry is Target | Served {
  if (typeof entry !== 'object' || entry === null) return false
  return (
    ('link' in entry && typeof entry.link === 'function') || ('handle' in entry && typeof entry.handle === 'function')
  )
}
