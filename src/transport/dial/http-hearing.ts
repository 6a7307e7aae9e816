import { timerMs } from '../../model/timer.ts'

/** How it stands with the stream for what a server says unasked. */
export interface HearingState {
  /** The stream is being had. */
  begun(): void
  /** The server took it up, for the first time or again. */
  opened(): void
  /** It broke, and is being had again. */
  broke(): void
  /** It cannot be had, or is not wanted any more. */
  ended(): void
  /**
   * While the stream is being had, resolves once it is clear what comes of it, or enough time has passed; else at once. Resolves
   * to whether it is heard, and has been ever since.
   */
  wait(): Promise<() => boolean>
}

/** One time in which nothing changed. */
interface Stretch {
  readonly kind: 'opening' | 'open' | 'none'
  readonly over: Promise<void>
  end(): void
}

/**
 * Makes the state of a stream that nobody asked for yet.
 * @param waitMs how long each wait takes at most
 * @param tell hears, in turns, that it is open (`true`), and that it is no more
 */
export function createHearingState(waitMs: number, tell: (hears: boolean) => void): HearingState {
  let now = stretch('none')

  function turn(kind: Stretch['kind']): void {
    const last = now
    now = stretch(kind)
    last.end()
    if (last.kind === 'open') tell(false)
    if (kind === 'open') tell(true)
  }

  return {
    begun: () => turn('opening'),
    opened: () => turn('open'),
    broke() {
      if (now.kind === 'open') turn('opening')
    },
    ended() {
      if (now.kind !== 'none') turn('none')
    },
    async wait() {
      if (now.kind === 'opening') await within(waitMs, now.over)
      const here = now
      return () => here.kind === 'open' && now === here
    },
  }
}

function stretch(kind: Stretch['kind']): Stretch {
  let end = (): void => {}
  const over = new Promise<void>((resolve) => (end = resolve))
  return { kind, over, end: () => end() }
}

/** Resolves with `promise`, or when the time is over. */
function within(ms: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms))
    void promise.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
