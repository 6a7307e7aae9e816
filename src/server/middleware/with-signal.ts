import type { CallContext, Features, SessionState } from '../../model/served.ts'
import type { AskAnswer, AskRequest, Implementation, LogLevel } from '../../model/nouns.ts'
import type { Notification, Principal } from '../../model/notification.ts'

/** The context of a call, with a signal of its own. A class, because every member of the original reads its own state. */
class WithSignal implements CallContext {
  readonly signal: AbortSignal
  readonly #outer: CallContext

  constructor(outer: CallContext, signal: AbortSignal) {
    this.#outer = outer
    this.signal = signal
  }

  get revision(): string {
    return this.#outer.revision
  }

  get features(): Features {
    return this.#outer.features
  }

  get defined(): CallContext['defined'] {
    return this.#outer.defined
  }

  get principal(): Principal | undefined {
    return this.#outer.principal
  }

  get client(): Implementation | undefined {
    return this.#outer.client
  }

  get logLevel(): LogLevel | undefined {
    return this.#outer.logLevel
  }

  get progressToken(): string | number | undefined {
    return this.#outer.progressToken
  }

  get ask(): ((request: AskRequest) => Promise<AskAnswer>) | undefined {
    return this.#outer.ask
  }

  get session(): SessionState | undefined {
    return this.#outer.session
  }

  get requestId(): string | number {
    return this.#outer.requestId
  }

  get header(): CallContext['header'] {
    return this.#outer.header
  }

  notify(notification: Notification): void {
    this.#outer.notify(notification)
  }

  disconnect(retryMs: number): void {
    this.#outer.disconnect(retryMs)
  }
}

/** `context`, but aborted by `signal`. */
export function withSignal(context: CallContext, signal: AbortSignal): CallContext {
  return new WithSignal(context, signal)
}
