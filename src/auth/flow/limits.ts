import { unauthorized } from './failure.ts'

/** What keeps a server that is never content from having us, or the user, go on for ever. */
export interface Limits {
  /** Counts a token that is refused although no request was ever accepted with it or after it. @throws CallFailed at the second */
  refused(): void
  /** Forgets what was counted of refusals: a request was accepted. */
  accepted(): void
  /** Counts a token that is had anew. @throws CallFailed at the sixth within a minute */
  acquire(): void
  /** Counts a demand for scopes that more tokens do not meet. @throws CallFailed at the third of the same within 10 minutes */
  stepUp(scope: string): void
  /** Counts a nonce that is demanded. Whether to try with it: five times in a row. */
  nonce(): boolean
}

const maxRefused = 2
const maxAcquired = 5
const maxStepUps = 2
const maxNonces = 5
const maxScopes = 100

/** Limits that go by `now`. */
export function createLimits(now: () => number): Limits {
  let refused = 0
  let nonces = 0
  let acquired: readonly number[] = []
  const stepUps = new Map<string, readonly number[]>()
  return {
    refused() {
      refused += 1
      if (refused >= maxRefused)
        throw unauthorized('The server refuses the tokens that its authorization server issues', { status: 401 })
    },
    accepted() {
      refused = 0
      nonces = 0
    },
    acquire() {
      acquired = [...acquired.filter((at) => at > now() - 60_000), now()]
      if (acquired.length > maxAcquired) throw unauthorized('The server asks for new tokens again and again')
    },
    stepUp(scope) {
      const at = [...(stepUps.get(scope) ?? []).filter((earlier) => earlier > now() - 600_000), now()]
      if (stepUps.size >= maxScopes) stepUps.clear()
      stepUps.set(scope, at)
      if (at.length > maxStepUps)
        throw unauthorized('The server is not content with the scopes that it asked for', {
          status: 403,
          data: { scope },
        })
    },
    nonce: () => (nonces += 1) <= maxNonces,
  }
}
