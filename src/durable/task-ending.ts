import type { Json } from '../model/json.ts'
import { Refusal } from '../model/refusal.ts'
import { isStoreUnavailable, StoreUnavailable } from '../model/store-unavailable.ts'
import type { Outcome } from './claim.ts'
import { recordPatience, retried } from './retried.ts'
import type { TaskEvent, TaskRecord } from './task.ts'

type Ending = Extract<TaskEvent, { readonly kind: 'complete' }>

/** How the end of a task is written. */
export interface EndingOptions<Written> {
  readonly task: TaskRecord
  readonly ending: Ending
  write(ending: Ending): Promise<Written>
  /** Told of the first failure that is followed by another attempt. */
  onDelay(error: unknown): void
  /** Told why the task now says no more than that it ended. */
  onUnkept(error: unknown): void
}

/**
 * Writes what a task came to: the truth is known here alone, so it is tried until that works. What does not fit the
 * store gives way to the mere fact that the task ended.
 * @throws what the last attempt threw, once that took too long
 */
export async function writeEnding<Written>(options: EndingOptions<Written>): Promise<Written> {
  const { task, ending, write, onDelay, onUnkept } = options

  async function writeUnkept(reason: unknown): Promise<Written> {
    const written = await write(unkept(task, ending.token))
    onUnkept(reason)
    return written
  }

  async function attempt(): Promise<Written> {
    try {
      return await write(ending)
    } catch (error) {
      if (isStoreUnavailable(error)) throw error
      return writeUnkept(error).catch((again: unknown) => {
        // There will be room again, and then perhaps for all of it.
        throw new StoreUnavailable('There is no room in the store', { cause: again })
      })
    }
  }

  // Some stores say of a value that is too long for them only that they cannot be reached.
  return retried(recordPatience, attempt, onDelay).catch(writeUnkept)
}

function unkept({ createdAt }: TaskRecord, token: string): Ending {
  return {
    kind: 'complete',
    token,
    outcome: { refusal: { kind: 'OutcomeUnknown', data: { since: new Date(createdAt).toISOString(), ended: true } } },
    message: 'The task ended, but what it came to could not be kept.',
  }
}

/** The result as it can be kept. @throws Refusal `Unserializable` */
export function asOutcome(result: unknown): Outcome {
  try {
    return { result: JSON.parse(JSON.stringify(result)) as Json }
  } catch (cause) {
    throw new Refusal('Unserializable', { cause })
  }
}
