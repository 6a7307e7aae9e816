import { CallFailed } from '../model/failure.ts'
import { timerMs } from '../model/timer.ts'
import { cancelledBy, whenAborted } from './lifetimes.ts'
import type { RequestOptions } from './options.ts'

/** How long something is waited for. */
export type Patience = Pick<RequestOptions, 'signal' | 'timeoutMs'>

/**
 * Waits no longer than is wanted for what others may wait for, too, and which goes on.
 * @param late what is said when it takes too long @throws CallFailed `Cancelled`, `TimedOut`; and what `shared` throws
 */
export async function within<T>(shared: Promise<T>, { signal, timeoutMs }: Patience, late: string): Promise<T> {
  if (!signal && timeoutMs === undefined) return shared
  let over = (): void => {}
  const enough = new Promise<never>((_, reject) => {
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => reject(new CallFailed('TimedOut', { ran: 'no', message: late })), timerMs(timeoutMs))
    const stop = whenAborted(signal, () => reject(cancelledBy(signal, 'no')))
    over = () => {
      clearTimeout(timer)
      stop()
    }
  })
  try {
    return await Promise.race([shared, enough])
  } finally {
    over()
  }
}
