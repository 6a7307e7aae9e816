import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { keptFromText, keptToText, type Held } from './held.ts'
import { TokenRefused, type Tokens } from './token-request.ts'
import type { TokenStore } from './token-store.ts'

/** What renewing works with. */
export interface Renewal {
  readonly store: TokenStore
  /** Where the token is kept. */
  readonly key: string
  readonly now: () => number
  /** Asks the authorization server. */
  readonly request: (held: Held) => Promise<Tokens>
  /** What comes of its answer. */
  readonly toHeld: (tokens: Tokens, before: Held) => Held
}

/** How long a process that began to renew is waited for, longer than a request may take. */
const leaseMs = 30_000
const pollMs = 50

/**
 * Renews `held`, once among all who share the store: a refresh token that rotates is good for one use, and using it twice
 * costs the user the grant. Whoever puts a lease on the token may ask; the others wait for what comes of it. A token that
 * somebody put meanwhile is taken instead and never overwritten.
 * @returns the token to go on with, or undefined where the grant is over
 * @throws whatever asking throws, other than a refusal
 */
export async function renew(renewal: Renewal, held: Held): Promise<Held | undefined> {
  const { store, key, now } = renewal
  // Another's clock may be ahead of ours by any amount.
  const patience = now() + leaseMs
  for (;;) {
    const text = await store.get(key)
    const kept = keptFromText(text)
    if (kept === undefined) return undefined
    if (kept.held.accessToken !== held.accessToken) return kept.held
    if (kept.held.refreshToken === undefined) return undefined
    if (kept.lease !== undefined && Math.min(kept.lease.until, patience) > now()) {
      await sleep(pollMs)
      continue
    }
    const leased = keptToText({ held: kept.held, lease: { by: randomUUID(), until: now() + leaseMs } })
    if (await store.swap(key, text, leased)) return ask(renewal, kept.held, leased)
  }
}

async function ask({ store, key, request, toHeld }: Renewal, held: Held, leased: string): Promise<Held | undefined> {
  const put = async (after: Held | undefined): Promise<Held | undefined> => {
    const text = after === undefined ? undefined : keptToText({ held: after, lease: undefined })
    if (await store.swap(key, leased, text)) return after
    return keptFromText(await store.get(key))?.held
  }
  try {
    return await put(toHeld(await request(held), held))
  } catch (error) {
    if (error instanceof TokenRefused && ends.includes(error.code)) return put(undefined)
    await put(held)
    throw error
  }
}

/** Refusals after which a refresh token is of no use; others may pass. */
const ends = [
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
]
