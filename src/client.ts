/** A client that talks to any server: it finds out how old the server is and speaks what both sides know. */
import { connectAllWith, type Clients, type ConnectAllOptions } from './client/connect-all.ts'
import { connectTo } from './client/connect.ts'
import type { Client } from './client/client.ts'
import type { ClientOptions } from './client/options.ts'
import { createCodecs, type Codecs } from './codec/registry.ts'
import type { Served } from './model/served.ts'
import type { Target } from './peer/link.ts'
import { memoryTarget, toTarget, type TargetLike } from './transport/dial/target.ts'

/** Every published revision; compiled for the first client, so that importing this costs little. */
let published: Codecs | undefined

/**
 * Connects to a server, whatever its age, and agrees with it on a revision. `where` is a URL of http or https, a command
 * (`{ command, args }`), a socket (`unix:PATH`, `tcp:HOST:PORT`, `{ path }`, `{ port }`), a target of one's own, or a
 * server value of this process. `connect<typeof server>(…)` knows the server's own tools.
 * @throws CallFailed, Refusal; TypeError for what says of no server where it is, and for a revision that is not known
 */
export function connect<S extends Served>(where: S, options?: ClientOptions): Promise<Client<S>>
export function connect<S = unknown>(where: TargetLike, options?: ClientOptions): Promise<Client<S>>
export async function connect<S>(where: TargetLike | Served, options: ClientOptions = {}): Promise<Client<S>> {
  published ??= createCodecs()
  return connectTo<S>(targetOf(where, options), options, { codecs: published, clock: Date.now })
}

/**
 * Makes one of the many servers of a configuration as editors write it: `{ "mcpServers": { NAME: ENTRY } }`, the same under
 * `servers`, or the entries alone. An entry has `command`, `args`, `env` and `cwd`, or `url`, `headers` and perhaps `type`
 * (`http`, `streamable-http`, `sse`), and `disabled` to be left out; or it is a target or a server value of this process.
 * An entry that is none of these fails alone. Servers are connected when they are first wanted.
 * @throws TypeError for a configuration that is no object
 */
export function connectAll(config: object, options: ConnectAllOptions = {}): Clients {
  return connectAllWith(config, options, { connect, clock: Date.now })
}

function targetOf(where: TargetLike | Served, { http, headers, authorization }: ClientOptions): Target {
  if (typeof where === 'object' && 'handle' in where) {
    // Who has a server has loaded one; others are not to pay for it.
    return memoryTarget(async () => (await import('./memory.ts')).connectInMemory(where))
  }
  return toTarget(where, {
    ...http,
    ...(headers && { headers: { ...http?.headers, ...headers } }),
    ...(authorization && { authorization }),
  })
}

export { memoryListCache } from './client/list-cache.ts'
export { memoryVerdicts } from './client/verdicts.ts'
export { CallFailed, isCallFailed, isFailure } from './model/failure.ts'
export { isRefusal, Refusal } from './model/refusal.ts'
export type {
  AnswerForm,
  AnsweringOptions,
  AnswerRoots,
  AnswerSample,
  AnswerUrl,
  AskContext,
  FormAnswer,
  VisitAnswer,
} from './client/answering.ts'
export type { BreakerOptions } from './client/breaker.ts'
export type { Client, ServerInfo } from './client/client.ts'
export type { Clients, ConnectAllOptions } from './client/connect-all.ts'
export type { ServerChange } from './client/feed.ts'
export type { CachedEntry, ListCache } from './client/list-cache.ts'
export type { Subscription } from './client/listening.ts'
export type { Listed, ListKind } from './client/lists.ts'
export type { ServerTool } from './client/member.ts'
export type { Patience } from './client/patience.ts'
export type { ClientContext, ClientLayer, ClientMiddleware } from './client/middleware.ts'
export type { CallOptions, ClientOptions, RequestOptions } from './client/options.ts'
export type { RetryOptions } from './client/retrying.ts'
export type { Variables } from './client/server-config.ts'
export type { Tasks } from './client/tasks.ts'
export type { ToolAnswer } from './client/tool-answer.ts'
export type { ArgumentsOf, CallRest, StructuredOf, ToolName, ToolsOf } from './client/typed.ts'
export type { Verdict, Verdicts } from './client/verdicts.ts'
export type { Authorization, AuthorizedRequest, Challenge } from './model/authorization.ts'
export type { FailureKind } from './model/failure.ts'
export type { Task, TaskStatus } from './model/nouns.ts'
export type { Link, LinkAgreement, LinkListener, Outgoing, Received, Target } from './peer/link.ts'
export type { HttpTargetOptions, TargetLike } from './transport/dial/target.ts'
export type { CommandOptions } from './transport/dial/stdio.ts'
export type { SocketOptions } from './transport/dial/socket.ts'
