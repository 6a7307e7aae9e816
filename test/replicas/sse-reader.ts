// Reads a response as server-sent events, message by message.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'

/** The messages of one stream. */
export interface SseReader {
  readonly status: number
  /** The id of the newest event. */
  readonly lastEventId: string
  /** The next message; rejects when the stream has ended, or says nothing for five seconds. */
  next(): Promise<Record<string, unknown>>
  readonly ended: Promise<void>
  close(): void
}

/** Reads on in the background. */
export function readEvents(response: Response): SseReader {
  const waiting: ((message: Record<string, unknown>) => void)[] = []
  const messages: Record<string, unknown>[] = []
  let lastEventId = ''
  let id = ''
  let data = ''
  const body = Readable.fromWeb(response.body ?? new Blob([]).stream())
  body.on('error', () => {})
  const lines = createInterface({ input: body })
  lines.on('line', (line) => {
    if (line.startsWith('id:')) id = line.slice(3).trim()
    else if (line.startsWith('data:')) data += line.slice(5)
    else if (line === '') dispatch()
  })
  function dispatch(): void {
    if (id !== '') lastEventId = id
    const text = data.trim()
    id = data = ''
    if (text === '') return
    const message = JSON.parse(text) as Record<string, unknown> // a message, as any server sends
    const reader = waiting.shift()
    if (reader) reader(message)
    else messages.push(message)
  }
  const ended = new Promise<void>((resolve) => lines.once('close', resolve))
  return {
    status: response.status,
    get lastEventId() {
      return lastEventId
    },
    next() {
      const message = messages.shift()
      if (message) return Promise.resolve(message)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('nothing was said')), 5_000)
        waiting.push((next) => {
          clearTimeout(timer)
          resolve(next)
        })
      })
    },
    ended,
    close: () => void body.destroy(),
  }
}
