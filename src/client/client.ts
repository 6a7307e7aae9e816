import type {
  CompleteParams,
  CompleteResult,
  GetPromptResult,
  ListenFilter,
  ReadResourceResult,
} from '../model/call.ts'
import type { JsonObject } from '../model/json.ts'
import type {
  Implementation,
  LogLevel,
  Prompt,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Task,
  Tool,
} from '../model/nouns.ts'
import type { Features } from '../model/served.ts'
import type { Subscription } from './listening.ts'
import type { Listed, ListKind } from './lists.ts'
import type { RequestOptions } from './options.ts'
import type { Tasks } from './tasks.ts'
import type { ToolAnswer } from './tool-answer.ts'
import type { CallRest, StructuredOf, ToolName } from './typed.ts'

/** What a server said of itself. */
export interface ServerInfo {
  /** For display and logs; never for a decision. */
  readonly info: Implementation | undefined
  readonly capabilities: ServerCapabilities
  readonly instructions: string | undefined
}

/**
 * A connection to one server, whatever its age. It reconnects by itself. Every method rejects with what `isFailure`
 * knows: a `Refusal` of the server, or a `CallFailed`; both say in `ran` whether the call ran.
 * `S` is the type of the server, where that is at hand.
 */
export interface Client<S = unknown> extends AsyncDisposable {
  /** The revision that was agreed. For display; code asks {@link Client.features}. */
  readonly revision: string
  /** What both sides and the transport have. */
  readonly features: Features
  readonly server: ServerInfo
  /** Calls a tool. A tool that says no is an answer with `isError`, whose `structured` throws. */
  call<const N extends ToolName<S>>(name: N, ...rest: CallRest<S, N>): Promise<ToolAnswer<StructuredOf<S, N>>>
  /** All of one list, from all its pages; from memory while it is good. The array does not change. */
  list<K extends ListKind>(kind: K, options?: RequestOptions): Promise<readonly Listed[K][]>
  tools(options?: RequestOptions): Promise<readonly Tool[]>
  resources(options?: RequestOptions): Promise<readonly Resource[]>
  resourceTemplates(options?: RequestOptions): Promise<readonly ResourceTemplate[]>
  prompts(options?: RequestOptions): Promise<readonly Prompt[]>
  /** Reads a resource; from the cache while the server said it is good. */
  read(uri: string, options?: RequestOptions): Promise<ReadResourceResult>
  /** Gets a prompt with its arguments filled in. */
  get(name: string, args?: Readonly<Record<string, string>>, options?: RequestOptions): Promise<GetPromptResult>
  /** Completes an argument of a prompt or of a resource template. */
  complete(params: CompleteParams, options?: RequestOptions): Promise<CompleteResult['completion']>
  /**
   * Hears of changes, in whatever way the server tells them; resolves once it said what it will tell. Taken up again by
   * itself when the way to the server breaks, or the stream of a session, with a change of kind `resumed`.
   */
  listen(filter: ListenFilter, options?: Pick<RequestOptions, 'signal'>): Promise<Subscription>
  /** Hears of changes of one resource, or of several. */
  subscribe(uri: string | readonly string[], options?: Pick<RequestOptions, 'signal'>): Promise<Subscription>
  /** A list as it is now, and each time that it is another; it keeps itself up to date until the loop is left. */
  watch<K extends ListKind>(
    kind: K,
    options?: Pick<RequestOptions, 'signal'>,
  ): AsyncGenerator<readonly Listed[K][], void, undefined>
  /** Long jobs. A call that becomes one is waited for; these are for those who do not. */
  readonly tasks: Tasks & {
    /** Calls a tool as {@link Client.call} does, but does not wait for the end of a task that the call became. */
    start<const N extends ToolName<S>>(name: N, ...rest: CallRest<S, N>): Promise<Task | ToolAnswer<StructuredOf<S, N>>>
  }
  /** Calls any method, also one that no revision defines. It is sent once: what may run twice is not known. */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>
  /** Says from which severity on the server's logs are wanted. */
  setLogLevel(level: LogLevel): Promise<void>
  /** Tells the server that the roots changed, where the revision has that. */
  rootsChanged(): Promise<void>
  /** Gives up on everything in flight and lets go of the server. */
  close(): Promise<void>
}
