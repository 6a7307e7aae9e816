import type { CallContext } from '../../model/served.ts'
import { InnerContext } from './inner-context.ts'

class WithSignal extends InnerContext {
  readonly #signal: AbortSignal

  constructor(outer: CallContext, signal: AbortSignal) {
    super(outer)
    this.#signal = signal
  }

  override get signal(): AbortSignal {
    return this.#signal
  }
}

/** `context`, but aborted by `signal`. */
export function withSignal(context: CallContext, signal: AbortSignal): CallContext {
  return new WithSignal(context, signal)
}
