import { isLater, type Awaitable } from '../model/at-once.ts'
import type { Bag, Placed } from '../model/bag.ts'
import { nowhere } from '../model/bag.ts'
import type { Clock, Logger } from '../model/ports.ts'
import type { Refusal } from '../model/refusal.ts'
import type { ClaimWatch } from './claim-watch.ts'
import type { ClaimWriter, Running } from './claim-writer.ts'
import type { Claim, ClaimEvent } from './claim.ts'
import type { Claiming, Held, Settling } from './claims.ts'
import { takenOver } from './hold.ts'
import { retried } from './retried.ts'

/** What the runs of one process have in common. */
export interface Holding {
  readonly writer: ClaimWriter
  readonly watch: ClaimWatch
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds that what a call came to is kept, where nothing else is said. */
  readonly keepMs: number
  readonly leaseMs: number
  /** The runs that are ours. */
  readonly held: Bag<HeldRun>
}

/** A store that is away gets this long to say whose a run is. */
const lookPatience = { times: 20, everyMs: 250 }

/** A run that may be held here. A class, since there is one for each claim, and one object costs less than its parts. */
export class HeldRun implements Held, Running, Placed {
  readonly key: string
  readonly token: string
  readonly keepMs: number
  readonly byStateAlone: boolean
  version: number
  claim: Claim | undefined
  place: number = nowhere
  again = false
  isNew = false
  lost: Refusal | undefined
  #lostTo: ((reason: Refusal) => void) | undefined
  readonly #holding: Holding

  constructor(
    holding: Holding,
    key: string,
    token: string,
    { keepMs = holding.keepMs, stateMs = 0, byStateAlone = false }: Claiming,
    version: number,
    claim: Claim | undefined,
  ) {
    this.#holding = holding
    this.key = key
    this.token = token
    this.keepMs = Math.max(keepMs, stateMs)
    this.byStateAlone = byStateAlone
    this.version = version
    this.claim = claim
  }

  /** From now on the run is ours. */
  begin(again: boolean, isNew: boolean): this {
    this.again = again
    this.isNew = isNew
    this.#holding.held.add(this)
    return this
  }

  settle(event: Settling): Awaitable<void> {
    // Whoever has the run now tells what it came to.
    if (this.lost !== undefined) return undefined
    const { writer, watch, held } = this.#holding
    const written = writer.record(this, ended(event, this.token), true)
    held.remove(this)
    if (event.kind === 'complete' && watch.isDue()) this.#sample(written)
    return written
  }

  isOurs(): Awaitable<boolean> {
    if (this.lost !== undefined) return false
    const { claim } = this
    if (claim?.state === 'running' && claim.leaseUntil > this.#holding.clock()) return true
    return this.#isHeld() ? retried(lookPatience, () => this.#renewed()) : true
  }

  onLost(listener: (reason: Refusal) => void): void {
    this.#lostTo = listener
  }

  /** Renews the lease. Never rejects. */
  async renew(): Promise<void> {
    try {
      await this.#renewed()
    } catch (error) {
      this.#holding.logger.warn('a lease could not be renewed', { key: this.key, error })
    }
  }

  /** Renews the lease, unless somebody else has the run. Resolves to whether it is ours. */
  async #renewed(): Promise<boolean> {
    const { writer, clock, leaseMs } = this.#holding
    const { token } = this
    const isHeld = (): boolean => this.#isHeld()
    const ours = await writer.write(this, { kind: 'renew', token, leaseUntil: clock() + leaseMs }, isHeld)
    if (!ours && isHeld()) this.#lose()
    return this.lost === undefined
  }

  #sample(written: Awaitable<void>): void {
    // One that could not be recorded would look as if it had been forgotten.
    const take = (): void => {
      if (this.claim?.state === 'completed') this.#holding.watch.take(this.key, this.keepMs)
    }
    if (isLater(written)) void written.then(take)
    else take()
  }

  #isHeld(): boolean {
    return this.place !== nowhere
  }

  #lose(): void {
    const { held, logger, clock } = this.#holding
    held.remove(this)
    this.lost = takenOver(this.claim?.since ?? clock())
    logger.warn('a run was taken over while it was running', { key: this.key })
    this.#lostTo?.(this.lost)
  }
}

/** What a run came to, as its holder says it. */
function ended(event: Settling, token: string): ClaimEvent {
  switch (event.kind) {
    case 'complete':
      return { kind: 'complete', token, outcome: event.outcome }
    case 'suspend':
      return { kind: 'suspend', token, outcome: event.outcome, goodUntil: event.goodUntil }
    case 'lose':
    case 'release':
      return { kind: event.kind, token }
  }
}
