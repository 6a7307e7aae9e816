import { guarded } from '../../model/ports.ts'
import { isCallFailed } from '../../model/failure.ts'
import { clientOf } from './client-of.ts'
import { serverOf } from './discover.ts'
import { restoreProofKey } from './dpop.ts'
import { toFailure } from './failure.ts'
import type { Fetcher } from './fetcher.ts'
import { keptFromText, keptToText, toHeld, type Held } from './held.ts'
import type { OAuthOptions } from './options.ts'
import { renew } from './refresh.ts'
import { revoke } from './revoke.ts'
import { requestTokens, TokenRefused, type Tokens } from './token-request.ts'
import { putTokens, type TokenStore } from './token-store.ts'

/** The token of one MCP server, here and in the store. */
export interface Holder {
  readonly held: Held | undefined
  /** Whether the token was given out since it came; one that was kept from before was. */
  given: boolean
  /** Whether a request was accepted with it. */
  accepted: boolean
  /** Reads the store, the first time. @throws CallFailed where it cannot be read */
  load(): Promise<void>
  /** Takes a token that was had anew, and keeps it whatever is there. */
  put(held: Held): Promise<void>
  /** Takes the token that another process put in the meantime. Whether there is one. */
  adoptStored(): Promise<boolean>
  /**
   * Renews the token. Whether there is a new one.
   * @param isRefused whether the server refuses the one there is, however good it is by the clock
   * @throws CallFailed where that cannot be said, and there is no good one to go on with
   */
  renew(isRefused: boolean): Promise<boolean>
  /** Revokes and forgets it, also in the store. */
  forget(): Promise<void>
}

/** Milliseconds after which a token that is still good is tried to be renewed again. */
const againMs = 5_000

/** The holder of the token for the MCP server at `url`. */
export function createHolder(url: URL, options: OAuthOptions, fetcher: Fetcher, store: TokenStore): Holder {
  const { clock: now = Date.now, user = '' } = options
  const logger = guarded(options.logger)
  const key = `dragoman/token/${encodeURIComponent(user)}/${url.origin}${url.pathname}`
  let held: Held | undefined
  let loading: Promise<void> | undefined
  const renewal = { store, key, now, toHeld: (tokens: Tokens, of: Held) => toHeld(tokens, of, now(), of) }

  const holder: Holder = {
    given: true,
    accepted: true,
    get held() {
      return held
    },
    load() {
      loading ??= store.get(key).then(
        (text) => void (held = keptFromText(text)?.held),
        (error: unknown) => {
          loading = undefined
          throw toFailure(error, 'The token store cannot be read')
        },
      )
      return loading
    },
    async put(next) {
      await putTokens(store, key, keptToText({ held: next, lease: undefined }))
      take(next, false)
    },
    async adoptStored() {
      const stored = keptFromText(await store.get(key))?.held
      if (stored === undefined || stored.accessToken === held?.accessToken) return false
      take(stored, true)
      return true
    },
    async renew(isRefused) {
      const before = held
      if (before?.refreshToken === undefined) return holder.adoptStored()
      let own = false
      const asking = (of: Held): Promise<Tokens> => {
        own = true
        return request(of)
      }
      try {
        const next = await renew({ ...renewal, request: asking }, before)
        if (next !== undefined && next.accessToken !== before.accessToken) {
          take(next, !own)
          logger.debug('The token is renewed', { issuer: next.issuer })
          return true
        }
        // It is still sent, so that the server asks for a new one rather than take us for somebody without a name.
        held = { ...before, refreshToken: undefined, renewAt: undefined }
      } catch (error) {
        const good = !isRefused && before.expiresAt !== undefined && before.expiresAt > now()
        if (!good || !isCallFailed(error) || error.kind !== 'Unreachable') throw error
        held = { ...before, renewAt: now() + againMs }
        logger.warn('The token cannot be renewed now', { issuer: before.issuer, reason: error.message })
      }
      return false
    },
    async forget() {
      const gone = held
      held = undefined
      await putTokens(store, key, undefined)
      const client = gone && clientOf(gone, options)
      if (gone && client) await revoke(fetcher, await serverOf(fetcher, url, gone), client, gone)
    },
  }
  return holder

  /** @param accepted whether it counts as accepted: another process had it, and has used it as far as we know */
  function take(next: Held, accepted: boolean): void {
    held = next
    holder.given = false
    holder.accepted = accepted
  }

  async function request(before: Held): Promise<Tokens> {
    const client = clientOf(before, options)
    if (client === undefined) throw new TokenRefused('invalid_client', 'its client is not configured any more', before)
    return requestTokens(fetcher, {
      server: await serverOf(fetcher, url, before),
      client,
      grantType: 'refresh_token',
      parameters: { refresh_token: before.refreshToken, resource: before.resource },
      proofKey: before.proofKey && (await restoreProofKey(before.proofKey)),
    })
  }
}
