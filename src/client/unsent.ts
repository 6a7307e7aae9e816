import { toldAnew } from '../model/as-unknown.ts'
import { isFailure } from '../model/failure.ts'

/** `error`, which ended connecting, as whoever waits for the connection is told it: nothing of what they want was sent. */
export function asUnsent(error: unknown): unknown {
  return !isFailure(error) || error.ran === 'no' ? error : toldAnew(error, 'no', error, error.data)
}
