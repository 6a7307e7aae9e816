import { createHash } from 'node:crypto'
import type { Bus } from './bus.ts'
import { createChannels, type Channels } from './channels.ts'
import { createListener } from './postgres-listener.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { nowMs } from './postgres-schema.ts'
import { fromKept, toKept } from './text.ts'

/** Messages between all that share a database and a schema. */
export interface PostgresBus extends Channels {
  publish(channel: string, message: string): Promise<void>
  close(): void
}

/** What the bus needs of its store. */
export interface BusParts {
  readonly bus: Bus
  readonly schema: string
  readonly timeoutMs: number
  pool(): Promise<PostgresPool>
  query(name: string, text: string, values: readonly unknown[]): Promise<readonly unknown[]>
}

interface Waiting {
  readonly name: string
  readonly message: string
  readonly sent: () => void
  readonly failed: (error: unknown) => void
}

/** Bytes of a notification's text; PostgreSQL takes fewer than 8,000 with what is put before it. */
const longestPayload = 7900
/** Notifications sent at once. */
const batch = 100

/** Publishes by NOTIFY. Text that is too long for that waits in a table, and its id is sent. */
export function postgresBus({ bus, schema, timeoutMs, pool, query }: BusParts): PostgresBus {
  const channels = new Map<string, string>()
  const waiting: Waiting[] = []
  let sending = false
  let count = 0
  let delivered: Promise<void> = Promise.resolve()
  let delivering = 0

  const listener = createListener(pool, timeoutMs, { notified, reconnected: () => bus.missed() })
  const wire = createChannels(bus, {
    async subscribe(channel) {
      const name = nameOf(schema, channel)
      channels.set(name, channel)
      await listener.listen(name)
    },
    async unsubscribe(channel) {
      const name = nameOf(schema, channel)
      channels.delete(name)
      await listener.unlisten(name)
    },
  })

  function notified(name: string, payload: string): void {
    const channel = channels.get(name)
    if (channel === undefined) return
    const [, kind, text = ''] = /^\d+([mr])([^]*)$/.exec(payload) ?? []
    if (kind === 'm' && delivering === 0) return bus.publish(channel, fromKept(text))
    // What comes behind a text that has to be fetched waits for it.
    delivering += 1
    delivered = delivered
      .then(async () => (kind === 'm' ? fromKept(text) : fetched(text)))
      .then(
        (message) => (message === undefined ? bus.missed() : bus.publish(channel, message)),
        () => bus.missed(),
      )
      .finally(() => (delivering -= 1))
  }

  async function fetched(id: string): Promise<string | undefined> {
    const rows = await query('message', `SELECT text FROM ${schema}.message WHERE id = $1`, [id])
    const [row] = rows as readonly { readonly text: string }[] // as selected
    return row && fromKept(row.text)
  }

  /** One statement at a time, so that messages keep their order; those that come meanwhile share the next one. */
  async function send(): Promise<void> {
    if (sending) return
    sending = true
    while (waiting.length > 0) {
      const next = waiting.splice(0, batch)
      try {
        await notify(next)
        for (const { sent } of next) sent()
      } catch (error) {
        // Those that came meanwhile would only wait as long for the same.
        for (const { failed } of [...next, ...waiting.splice(0)]) failed(error)
      }
    }
    sending = false
  }

  async function notify(messages: readonly Waiting[]): Promise<void> {
    const payloads: string[] = []
    for (const { message } of messages) payloads.push(await payloadOf(toKept(message)))
    const names = messages.map(({ name }) => name)
    await query('notify', 'SELECT pg_notify(name, payload) FROM unnest($1::text[], $2::text[]) AS m (name, payload)', [
      names,
      payloads,
    ])
  }

  /** The number tells apart what PostgreSQL would send once, as two equal texts in one statement. */
  async function payloadOf(text: string): Promise<string> {
    const number = String(count++)
    if (Buffer.byteLength(text) <= longestPayload) return `${number}m${text}`
    const insert = `INSERT INTO ${schema}.message (text, at) VALUES ($1, ${nowMs}) RETURNING id::text`
    const [row] = (await query('keep-message', insert, [text])) as readonly { readonly id: string }[] // as returned
    return `${number}r${row?.id ?? ''}`
  }

  return {
    publish: (channel, message) =>
      new Promise((sent, failed) => {
        waiting.push({ name: nameOf(schema, channel), message, sent, failed })
        void send()
      }),
    subscribe: (channel, heard, missed) => wire.subscribe(channel, heard, missed),
    close: () => listener.close(),
  }
}

/** PostgreSQL's names are short and plain; 160 bits of a digest do not meet by chance. */
function nameOf(schema: string, channel: string): string {
  return `dragoman_${createHash('sha256').update(`${schema}\n${channel}`).digest('hex').slice(0, 40)}`
}
