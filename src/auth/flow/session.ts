import type { CallFailed } from '../../model/failure.ts'
import { guarded } from '../../model/ports.ts'
import { acquire } from './acquire.ts'
import type { Demand } from './challenge.ts'
import { discover, type Discovered } from './discover.ts'
import { toFailure, unauthorized } from './failure.ts'
import { createFetcher } from './fetcher.ts'
import { createFlights } from './flights.ts'
import type { Held } from './held.ts'
import { createHolder } from './holder.ts'
import { createLimits, type Limits } from './limits.ts'
import { isLoopbackHost } from './network.ts'
import type { OAuthOptions } from './options.ts'
import { scopesIn } from './scopes.ts'
import { TokenRefused } from './token-request.ts'
import { memoryTokens } from './token-store.ts'

/** How the token of one MCP server comes and changes. */
export interface Session {
  readonly server: URL
  readonly limits: Limits
  /** Takes in which revision a request is of. */
  speaks(revision: string | undefined): void
  /** The token to send, renewed where it is time; undefined before there is one. @throws CallFailed */
  token(): Promise<Held | undefined>
  /**
   * Deals with a 401. Whether the request is worth another try. @throws CallFailed
   * @param signal aborted once nobody waits for the request any more
   */
  replace(demand: Demand, signal?: AbortSignal): Promise<boolean>
  /** Deals with scopes that do not suffice, in the same way. */
  widen(demand: Demand, signal?: AbortSignal): Promise<boolean>
  /** A request was accepted. */
  accepted(): void
  signOut(): Promise<void>
}

type Work = (signal: AbortSignal) => Promise<boolean>

/** Milliseconds for which a refusal that no user had a part in is final. */
const finalMs = 10_000

/** The session with the MCP server at `url`. */
export function createSession(url: URL, options: OAuthOptions): Session {
  const { store = memoryTokens(), clock: now = Date.now } = options
  const logger = guarded(options.logger)
  const fetcher = createFetcher(options.network ?? {}, isLoopbackHost(url.hostname))
  const holder = createHolder(url, options, fetcher, store)
  const limits = createLimits(now)
  const flights = createFlights()
  let final: { readonly until: number; readonly failure: CallFailed } | undefined

  return {
    server: url,
    limits,
    speaks: (revision) => void (fetcher.revision = revision ?? fetcher.revision),
    async token() {
      await holder.load()
      if ((holder.held?.renewAt ?? Infinity) <= now()) await alone('renew', () => holder.renew(false))
      holder.given = true
      return holder.held
    },
    replace: (demand, signal) => challenged('replace', (stop) => answer401(demand, stop), signal),
    widen: (demand, signal) => challenged(`widen ${demand.scope}`, (stop) => answer403(demand, stop), signal),
    accepted() {
      if (holder.given) holder.accepted = true
      limits.accepted()
    },
    signOut: () => holder.load().then(() => holder.forget()),
  }

  async function challenged(kind: string, work: Work, signal: AbortSignal | undefined): Promise<boolean> {
    await holder.load()
    // The request that was refused cannot have carried a token that was never given out.
    return (holder.held !== undefined && !holder.given) || alone(kind, work, signal)
  }

  function alone(kind: string, work: Work, signal?: AbortSignal): Promise<boolean> {
    const before = holder.held?.accessToken
    const failing = (error: unknown): never => {
      throw toFailure(error, 'Authorization failed')
    }
    return flights.join(
      kind,
      () => holder.held?.accessToken !== before,
      (stop) => work(stop).catch(failing),
      signal,
    )
  }

  async function answer401(demand: Demand, signal: AbortSignal): Promise<boolean> {
    if (await holder.adoptStored()) return true
    const { held, accepted } = holder
    if (held !== undefined && !accepted) limits.refused()
    const found = await discover(fetcher, url, demand, options, held)
    const same = held?.issuer === found.server.issuer && held.resource === found.resource?.resource
    const renewable = held !== undefined && same && accepted && isGranted(demand, held)
    return (renewable && (await holder.renew(true))) || acquired(demand, found, signal)
  }

  async function answer403(demand: Demand, signal: AbortSignal): Promise<boolean> {
    const { held } = holder
    if (held === undefined || demand.scope === undefined) return false
    limits.stepUp(scopesIn(demand.scope).toSorted().join(' '))
    // The token has them already: a server that keeps up with its authorization server only later may take it now.
    return isGranted(demand, held) || acquired(demand, await discover(fetcher, url, demand, options, held), signal)
  }

  async function acquired(demand: Demand, found: Discovered, signal: AbortSignal): Promise<boolean> {
    if (final !== undefined && final.until > now()) throw final.failure
    limits.acquire()
    try {
      const next = await acquire(options, { ...options, fetcher, store, now }, found, demand, holder.held, signal)
      await holder.put(next)
      logger.info('A token is granted', { issuer: next.issuer, scopes: next.granted })
      return true
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const data = { error: error.code }
      const failure = unauthorized(`${found.server.issuer} grants no token: ${error.message}`, { data, cause: error })
      if (options.grant.type !== 'authorization_code') final = { until: now() + finalMs, failure }
      throw failure
    }
  }
}

function isGranted({ scope }: Demand, { granted }: Held): boolean {
  return scopesIn(scope).every((one) => granted.includes(one))
}
