import { CallFailed } from '../../model/failure.ts'

/** What a link comes to that was closed, whatever it was doing. */
export function closedFailure(): CallFailed {
  return new CallFailed('Cancelled', { ran: 'no', message: 'the link was closed' })
}
