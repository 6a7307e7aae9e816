import { CallFailed } from '../../model/failure.ts'
import type { Link, LinkAgreement, LinkListener } from '../../peer/link.ts'
import { capsOf } from './caps.ts'
import { closedFailure } from './closed.ts'
import { openChannel, type HttpLinkOptions } from './http-channel.ts'
import { follow } from './http-follow.ts'
import { createHearingState } from './http-hearing.ts'
import { acknowledged, postNotice } from './http-notice.ts'
import { postRequest } from './http-post.ts'
import { lowerCased, type Abandonable, type HttpRoom } from './http-room.ts'
import type { HttpRequest, HttpSend, ReadHeader } from './http-types.ts'

/** Milliseconds that the end of a session may take at the end of its link. */
const farewellMs = 2_000
/** Milliseconds that those who listen wait for the stream of a session: some servers answer only once they have something to say. */
const openingMs = 1_000
/** The longest session id that is taken. */
const maxSessionId = 4_096

/**
 * A link over Streamable HTTP, of every revision (specification, "Streamable HTTP"). A message is a POST; its answer comes
 * as JSON or as a stream, which is taken up again where the revision resumes streams. A session that the server opens is
 * kept and ended. `open` sends nothing yet.
 */
export function createHttpLink(url: URL, options: HttpLinkOptions = {}): Link {
  const caps = capsOf(options.caps)
  const open = new Set<Abandonable>()
  let channel: HttpSend | undefined
  let listener: LinkListener | undefined
  let agreement: LinkAgreement | undefined
  let session: string | undefined
  let gone = false
  let closed = false
  let listens = false
  const hearing = createHearingState(openingMs, (hears) => listener?.hears?.(hears))
  let headers = headersOf(options, session, agreement)

  function request(method: HttpRequest['method'], more: Readonly<Record<string, string>>, body?: string): HttpRequest {
    if (body === undefined) return { method, url, headers: { ...headers.all, ...more } }
    return { method, url, headers: { ...headers.posted, ...more }, body }
  }

  function useSession(id: string | undefined): void {
    session = id
    headers = headersOf(options, session, agreement)
  }

  function seen(status: number, header: ReadHeader): boolean {
    if (agreement === undefined && status < 300) {
      const id = header('mcp-session-id')
      if (id !== undefined && isSessionId(id)) useSession(id)
    }
    if (status !== 404 || session === undefined) return false
    // What was sent before this was known meets the same, and is told each for itself; the session once.
    if (!gone) {
      gone = true
      listener?.expired?.()
    }
    return true
  }

  function roomOf(send: HttpSend): HttpRoom {
    return {
      caps,
      send,
      request,
      seen,
      open,
      listener: () => listener,
      resumable: () => agreement?.http.resumable !== false,
      retryMs: options.retryMs ?? 1_000,
      acknowledgeTimeoutMs: options.acknowledgeTimeoutMs ?? 30_000,
    }
  }

  /** Opens the stream for what the server says unasked. Not every server has one, which is no fault. */
  function listen(room: HttpRoom): void {
    if (listens || agreement?.http.sessions !== true || listener === undefined) return
    listens = true
    hearing.begun()
    follow(room, {
      lastEventId: '',
      retryMs: undefined,
      again: false,
      maxFailures: Infinity,
      opened: hearing.opened,
      broke: hearing.broke,
      message: (message) => listener?.message(message, {}),
      overflow: () => listener?.noise?.('stream', `an event of more than ${caps.maxMessageBytes} bytes`),
      lost: hearing.ended,
    })
  }

  let room: HttpRoom | undefined
  return {
    transport: 'http',
    async open(hearing) {
      channel = await openChannel(url, options, caps)
      if (closed) {
        channel.close()
        throw closedFailure()
      }
      room = roomOf(channel)
      listener = hearing
    },
    async send(outgoing) {
      const { id, signal } = outgoing
      if (signal?.aborted === true) return
      if (room === undefined || listener === undefined) {
        throw new CallFailed('ConnectionLost', { ran: 'no', message: 'the link is not open' })
      }
      if (gone) throw new CallFailed('ConnectionLost', { ran: 'no', message: 'the session has ended' })
      if (id !== undefined) return postRequest(room, { ...outgoing, id })
      await postNotice(room, outgoing)
      // Servers open the stream of a session only once they were told that it is ready.
      listen(room)
    },
    agree(agreed) {
      agreement = agreed
      useSession(agreed.http.versionHeader === 'always' ? undefined : session)
    },
    listening: hearing.wait,
    async close() {
      closed = true
      listener = undefined
      hearing.ended()
      for (const one of open) one.abandon()
      const last = channel
      channel = undefined
      if (last !== undefined && session !== undefined && !gone) await farewell(last)
      last?.close()
    },
  }

  /** Ends the session. A server that knows no such thing is free to say so. */
  async function farewell(send: HttpSend): Promise<void> {
    const ending = { caps, open, timeoutMs: farewellMs, seen: () => {} }
    await acknowledged(send, request('DELETE', {}), ending).catch(() => {})
  }
}

interface LinkHeaders {
  readonly all: Readonly<Record<string, string>>
  /** With those of a request that has a body. */
  readonly posted: Readonly<Record<string, string>>
}

/** The headers that every request has for as long as session and agreement stay as they are. */
function headersOf(
  { headers }: HttpLinkOptions,
  session: string | undefined,
  agreement: LinkAgreement | undefined,
): LinkHeaders {
  const own: Record<string, string> = {}
  if (agreement !== undefined && agreement.http.versionHeader !== 'none') {
    own['mcp-protocol-version'] = agreement.revision
  }
  if (session !== undefined) own['mcp-session-id'] = session
  const given = lowerCased(headers)
  const body = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return { all: { ...given, ...own }, posted: { ...given, ...body, ...own } }
}

/** Visible ASCII, as the specification has it. */
function isSessionId(id: string): boolean {
  return id.length <= maxSessionId && /^[!-~]+$/.test(id)
}
