import { InnerContext } from './inner-context.ts'

/** The context of a call that may be ended from within: its signal aborts with the outer one, or by {@link LimitedContext.end}. */
export class LimitedContext extends InnerContext {
  /** Made when somebody looks: most handlers never do, and a signal costs more than a short call. */
  #controller: AbortController | undefined
  #reason: Error | undefined

  override get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const controller = new AbortController()
    this.#controller = controller
    const { signal } = this.outer
    if (signal.aborted) controller.abort(signal.reason)
    else if (this.#reason) controller.abort(this.#reason)
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
    return controller.signal
  }

  end(reason: Error): void {
    this.#reason = reason
    this.#controller?.abort(reason)
  }
}
