import type { CallContext, Features, SessionState } from '../../model/served.ts'
import type { Implementation, LogLevel } from '../../model/nouns.ts'
import type { Notification, Principal } from '../../model/notification.ts'

/**
 * The context that a layer hands inwards where it changes some of it: all of the outer one, for a class to override. A
 * class, because every member of the original reads its own state, so that it cannot be copied.
 */
export class InnerContext implements CallContext {
  protected readonly outer: CallContext

  constructor(outer: CallContext) {
    this.outer = outer
  }

  get revision(): string {
    return this.outer.revision
  }

  get features(): Features {
    return this.outer.features
  }

  get defined(): CallContext['defined'] {
    return this.outer.defined
  }

  get principal(): Principal | undefined {
    return this.outer.principal
  }

  get client(): Implementation | undefined {
    return this.outer.client
  }

  get signal(): AbortSignal {
    return this.outer.signal
  }

  get logLevel(): LogLevel | undefined {
    return this.outer.logLevel
  }

  get progressToken(): string | number | undefined {
    return this.outer.progressToken
  }

  get ask(): CallContext['ask'] {
    return this.outer.ask
  }

  get session(): SessionState | undefined {
    return this.outer.session
  }

  get requestKey(): string | undefined {
    return this.outer.requestKey
  }

  get requestId(): string | number {
    return this.outer.requestId
  }

  get header(): CallContext['header'] {
    return this.outer.header
  }

  notify(notification: Notification): void {
    this.outer.notify(notification)
  }

  detach(): void {
    this.outer.detach()
  }

  disconnect(retryMs: number): void {
    this.outer.disconnect(retryMs)
  }
}
