import type { EventPage } from '../../durable/event-log.ts'
import type { StreamPage } from './event-stream.ts'
import type { HttpReply } from './http-types.ts'

/** Somebody who reads a stream that another process writes. */
export interface Follower {
  /** There is more to read, or at least somebody who may write more. */
  grown(): void
}

/** How a stream of another process is followed. */
export interface Following {
  /** The events after one, as far as they are kept. */
  read(after: number): Promise<StreamPage | undefined>
  write(page: EventPage): void
  /** Sends the head. */
  start(): HttpReply
  /** Asks the process that writes the stream to tell when it grows; it tells at once that it is there. */
  ask(): Promise<void>
  readonly after: number
  begin(follower: Follower): void
  end(follower: Follower): void
}

/** Whoever writes the stream is asked this often whether it is still there, and taken for dead after so many silences. */
const patience = { askMs: 2_000, silences: 2 }

/**
 * Reads a stream that another process writes, as it grows, to its end. If that process is dead, the reader is told of the
 * gap, and the stream ends. @returns `false` where there is no such stream or event, and nobody who writes it
 */
export async function followStream(following: Following): Promise<boolean> {
  let heard = false
  let wake = (): void => {}
  const follower: Follower = {
    grown() {
      heard = true
      wake()
    },
  }
  /** Whether there was news within the time that whoever writes the stream has. */
  async function news(): Promise<boolean> {
    if (!heard) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience.askMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const was = heard
    heard = false
    return was
  }

  following.begin(follower)
  let reply: HttpReply | undefined
  try {
    await following.ask()
    const kept = await following.read(following.after)
    // Whoever writes it may have sent what is not kept yet.
    if ((kept === undefined || kept.beyond) && (kept?.ended || !(await news()))) return false
    reply = following.start()
  } finally {
    if (reply === undefined) following.end(follower)
  }
  reply.onClose(() => wake())
  void pump(following, reply, news).finally(() => following.end(follower))
  return true
}

const lost: EventPage = { events: [], gap: true }

async function pump(following: Following, reply: HttpReply, news: () => Promise<boolean>): Promise<void> {
  let seen = following.after
  let silent = 0
  while (!reply.closed) {
    const page = await following.read(seen).catch(() => undefined)
    if (page !== undefined) {
      following.write(page)
      if (page.ended) {
        if (page.beyond) following.write(lost)
        return reply.end()
      }
      seen = page.events.at(-1)?.sequence ?? seen
    }
    silent = (await news()) ? 0 : silent + 1
    if (silent >= patience.silences) {
      following.write(lost)
      return reply.end()
    }
    if (silent > 0) await following.ask()
  }
}
