import type { Feature } from '../model/feature.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { AskAnswer, Implementation, LogLevel, Root, SampleParams, SampleResult } from '../model/nouns.ts'
import type { Principal } from '../model/notification.ts'
import type { Form } from '../schema/form.ts'
import type { ServerHandle } from './server.ts'

/** What the user did with a form: filled it in, said no, or went away. */
export type Elicited<T> = { readonly action: 'accept'; readonly content: T } | { readonly action: 'decline' | 'cancel' }

/** What the user did with a URL. `accept` is consent to visit it, not completion. */
export interface Visited {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** Tells the client that what the URL was for is done, on revisions that have such a notification, while the call runs. */
  done(): void
}

/** What a step is given: a `key` that is the same each time this step of this flow runs, to hand upstream. */
export interface StepInput {
  readonly key: string
  readonly signal: AbortSignal
}

/** What surrounds one run of a handler. */
export interface Context {
  /** The revision the caller speaks. For display; ask {@link Context.can} instead. */
  readonly revision: string
  readonly client: Implementation | undefined
  readonly principal: Principal | undefined
  /** Aborted when the caller cancels or goes away, and when the server gives up. */
  readonly signal: AbortSignal
  /** The request's `_meta`, as it came. */
  readonly meta: JsonObject
  /** The answers of a retry, as they came; for handlers that return `inputRequired` themselves. Nobody checked them. */
  readonly inputResponses: Readonly<Record<string, AskAnswer>> | undefined
  /** What the handler's own `inputRequired` kept for this retry. */
  readonly state: Json | undefined
  /**
   * A header of the HTTP request, whatever the case of `name`; `undefined` on other transports. Credentials are kept
   * from handlers: `authorization`, `cookie` and `proxy-authorization` are never there. See {@link Context.principal}.
   */
  header(name: string): string | undefined
  /** The server this handler is on, for changes from inside. */
  readonly server: ServerHandle
  /** Whether this client can do something, say `elicitation.url`. */
  can(feature: Feature): boolean
  /** Reports progress, if the caller asked for it. A report that does not exceed the one before is left out. */
  progress(progress: number, total?: number, message?: string): void
  /**
   * Tells the client something at a severity; left out below the one it asked for.
   * @deprecated Logging is deprecated from 2026-07-28.
   */
  log(level: LogLevel, data: Json, logger?: string): void
  /**
   * Asks the user to fill in a form. `key` names the question within this handler. On 2026-07-28 the handler runs again
   * from its start once the answer is there, so effects before the question belong into {@link Context.step}.
   */
  elicit<T>(key: string, form: Form<T>, message: string): Promise<Elicited<T>>
  /** Asks the user to visit a URL; `accept` is consent, not completion. */
  elicitUrl(key: string, url: string, message: string): Promise<Visited>
  /** Asks the client's model. @deprecated Sampling is deprecated from 2026-07-28. */
  sample(key: string, params: SampleParams): Promise<SampleResult>
  /** Asks the client for its roots. @deprecated Roots are deprecated from 2026-07-28. */
  roots(key?: string): Promise<readonly Root[]>
  /** Runs `effect` once per flow: in later rounds its recorded result (JSON) is returned instead. */
  step<T extends Json>(key: string, effect: (input: StepInput) => Promise<T> | T): Promise<T>
  /** Lets go of the connection, keeping the call alive; the client comes back after `retryMs` where streams can be resumed. */
  disconnect(retryMs?: number): void
}
