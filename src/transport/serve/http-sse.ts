import type { Random } from '../../model/ports.ts'
import { guarded } from '../../model/ports.ts'
import type { Peer } from '../../peer/peer.ts'
import { defaultCaps } from '../../wire/caps.ts'
import { sseComment, sseEvent } from '../../wire/sse.ts'
import { sseHeaders } from './answering.ts'
import { createConnection } from './connection.ts'
import type { Connection } from './connection.ts'
import type { Visit } from './http.ts'
import type { HttpOptions } from './http-types.ts'
import type { OpenExchanges } from './open-exchanges.ts'

/** The older way over HTTP: one stream for everything the server says, and posts that are only acknowledged. */
export interface HttpSse {
  /** GET: opens a connection and tells the client where to post. */
  listen(visit: Visit): void
  /** POST: takes in a message of one of the connections. @returns `false` when there is no such connection */
  receive(visit: Visit, body: Uint8Array): boolean
  close(graceMs: number): Promise<void>
}

interface Link {
  readonly connection: Connection
  /** Ends the stream. */
  end(): void
  readonly principal: string | undefined
}

/** Milliseconds that calls may go on after their client went away: going away is not a cancel. */
const afterlifeMs = 60_000

/** Serves HTTP+SSE, which the specification deprecates (specification of the first revision, "HTTP with SSE"), each stream a connection of its own. */
export function createHttpSse(peer: Peer, options: HttpOptions, random: Random, open: OpenExchanges): HttpSse {
  const logger = guarded(options.logger)
  const caps = { ...defaultCaps, ...options.caps }
  const links = new Map<string, Link>()
  let warned = false

  function warnOnce(): void {
    if (warned) return
    warned = true
    logger.warn('deprecated by the specification', { feature: 'HTTP+SSE' })
  }

  return {
    listen({ request, reply, principal }) {
      warnOnce()
      const id = Buffer.from(random(18)).toString('base64url')
      const [path = ''] = (request.originalPath ?? request.path).split('?', 1)
      const connection = createConnection(peer, {
        send: (text) => reply.write(sseEvent(text, { event: 'message' })),
        transport: 'http+sse',
        principal,
        caps,
        logger,
        isFull: () => open.isFull(),
      })
      const unwatch = open.watch({ keepAlive: () => reply.write(sseComment('keep-alive')) })
      const leave = (): void => {
        links.delete(id)
        unwatch()
      }
      const end = (): void => {
        leave()
        reply.end()
      }
      links.set(id, { connection, principal: principal?.id, end })
      reply.onClose(() => {
        leave()
        connection.endInput()
        void connection.close(afterlifeMs)
      })
      reply.head(200, sseHeaders)
      reply.write(sseEvent(`${path}?id=${id}`, { event: 'endpoint' }))
    },
    receive({ request, reply, principal }, body) {
      const link = links.get(new URLSearchParams(request.path.split('?')[1]).get('id') ?? '')
      if (link === undefined || link.principal !== principal?.id) return false
      reply.full(202, [])
      link.connection.receive(body, { header: request.header, principal })
      return true
    },
    async close(graceMs) {
      // Each goes once it is done, so that nothing is taken in that nobody would answer.
      await Promise.all([...links.values()].map(({ connection, end }) => connection.close(graceMs).then(end)))
    },
  }
}
