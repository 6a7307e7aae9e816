import { CallFailed } from '../../model/failure.ts'
import type { Link, LinkAgreement, LinkListener } from '../../peer/link.ts'
import { capsOf } from './caps.ts'
import { openChannel, type HttpLinkOptions } from './http-channel.ts'
import { follow } from './http-follow.ts'
import { acknowledged, postNotice } from './http-notice.ts'
import { postRequest } from './http-post.ts'
import { lowerCased, type Abandonable, type HttpRoom } from './http-room.ts'
import type { HttpRequest, HttpSend, ReadHeader } from './http-types.ts'

/** Milliseconds that the end of a session may take at the end of its link. */
const farewellMs = 2_000
/** The longest session id that is taken. */
const maxSessionId = 4_096

/**
 * A link over Streamable HTTP, of every revision (specification, "Streamable HTTP"). A message is a POST; its answer comes
 * as JSON or as a stream, which is taken up again where the revision resumes streams. A session that the server opens is
 * kept and ended. `open` sends nothing yet.
 */
export function createHttpLink(url: URL, options: HttpLinkOptions = {}): Link {
  const caps = capsOf(options.caps)
  const session = createSession()
  const fixed = lowerCased(options.headers)
  const open = new Set<Abandonable>()
  let channel: HttpSend | undefined
  let listener: LinkListener | undefined
  let agreement: LinkAgreement | undefined
  let listening = false

  function request(
    method: HttpRequest['method'],
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): HttpRequest {
    const all = {
      ...fixed,
      ...(method === 'POST' ? posted : undefined),
      ...versionOf(agreement),
      ...session.header(),
      ...headers,
    }
    return body === undefined ? { method, url, headers: all } : { method, url, headers: all, body }
  }

  function seen(status: number, header: ReadHeader): boolean {
    if (agreement === undefined && status < 300) session.opened(header('mcp-session-id'))
    if (status !== 404 || !session.end()) return false
    listener?.expired?.()
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
    if (listening || agreement?.http.sessions !== true || listener === undefined) return
    listening = true
    follow(room, {
      lastEventId: '',
      retryMs: undefined,
      again: false,
      maxFailures: Infinity,
      message: (message) => listener?.message(message, {}),
      overflow: () => listener?.noise?.('stream', `an event of more than ${caps.maxMessageBytes} bytes`),
      lost: () => {},
    })
  }

  let room: HttpRoom | undefined
  return {
    transport: 'http',
    async open(hearing) {
      channel = await openChannel(url, options, caps)
      room = roomOf(channel)
      listener = hearing
    },
    async send(outgoing) {
      const { id, signal } = outgoing
      if (signal?.aborted === true) return
      if (room === undefined || listener === undefined) {
        throw new CallFailed('ConnectionLost', { ran: 'no', message: 'the link is not open' })
      }
      if (id !== undefined) return postRequest(room, { ...outgoing, id })
      await postNotice(room, outgoing)
      // Servers open the stream of a session only once they were told that it is ready.
      listen(room)
    },
    agree(agreed) {
      agreement = agreed
      if (agreed.http.versionHeader === 'always') session.end()
    },
    async close() {
      listener = undefined
      for (const one of open) one.abandon()
      const last = channel
      channel = undefined
      if (last !== undefined && session.id !== undefined) await farewell(last)
      last?.close()
    },
  }

  /** Ends the session. A server that knows no such thing is free to say so. */
  async function farewell(send: HttpSend): Promise<void> {
    const ending = { caps, open, timeoutMs: farewellMs, seen: () => {} }
    await acknowledged(send, request('DELETE', {}), ending).catch(() => {})
    session.end()
  }
}

const posted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function versionOf(agreement: LinkAgreement | undefined): Readonly<Record<string, string>> | undefined {
  if (agreement === undefined || agreement.http.versionHeader === 'none') return undefined
  return { 'mcp-protocol-version': agreement.revision }
}

interface Session {
  readonly id: string | undefined
  opened(id: string | undefined): void
  /** @returns whether there was one */
  end(): boolean
  header(): Readonly<Record<string, string>> | undefined
}

/** The session of a link, by the id that the server gave it: visible ASCII, as the specification has it. */
function createSession(): Session {
  let header: { readonly 'mcp-session-id': string } | undefined
  return {
    get id() {
      return header?.['mcp-session-id']
    },
    opened(id) {
      if (id !== undefined && id.length <= maxSessionId && /^[!-~]+$/.test(id)) header = { 'mcp-session-id': id }
    },
    end() {
      const was = header !== undefined
      header = undefined
      return was
    },
    header: () => header,
  }
}
