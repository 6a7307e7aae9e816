// What every runtime is asked. The answers have to be those that Node gives.
import { headersFor } from '../../test/hostile/doors.ts'
import { modern, modernCall, text } from '../../test/hostile/requests.ts'

export interface Asked {
  readonly name: string
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Some runtimes close a connection whose request nobody reads to its end, before the client has read the refusal. */
  readonly mayClose?: true
  /** What an earlier answer is needed for. */
  readonly needs?: 'session' | 'state'
}

const able = { elicitation: { form: {} } }
const post = (name: string, message: object, headers: Record<string, string> = {}): Asked => {
  const body = text(message)
  return { name, body, headers: { ...headersFor(body, undefined), ...headers } }
}
const inSession = (name: string, message: object): Asked => ({
  name,
  body: text(message),
  headers: headersFor('', ''),
  needs: 'session',
})
const initialize = (protocolVersion: string): object => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})

/** The requests, in order. */
export const requests: readonly Asked[] = [
  post('discover', modern(1, 'server/discover')),
  post('list', modern(2, 'tools/list')),
  post('call', modernCall(3, 'add', { a: 1, b: 2 })),
  post('bad arguments', modernCall(4, 'add', { a: 'x' })),
  post('a tool that throws', modernCall(5, 'break')),
  post('progress, streamed', {
    ...modernCall(6, 'steps'),
    params: {
      ...(modernCall(6, 'steps') as { params: object }).params,
      _meta: { ...(modern(6, 'x') as { params: { _meta: object } }).params._meta, progressToken: 'p' },
    },
  }),
  post('read', modern(7, 'resources/read', { uri: 'memo://hello' }), { 'mcp-name': 'memo://hello' }),
  post('unknown tool', modernCall(8, 'absent')),
  post('unknown method', modern(9, 'no/such')),
  post('a question', modern(10, 'tools/call', { name: 'ask', arguments: {} }, able)),
  {
    ...post(
      'its answer',
      modern(
        11,
        'tools/call',
        { name: 'ask', arguments: {}, inputResponses: { sure: { action: 'accept', content: { sure: true } } } },
        able,
      ),
    ),
    needs: 'state',
  },
  post('a forged state', modern(12, 'tools/call', { name: 'ask', arguments: {}, requestState: 'forged' }, able)),
  post('a header unlike the body', modernCall(13, 'add'), { 'mcp-name': 'other' }),
  post('a foreign origin', modernCall(14, 'add'), { origin: 'https://evil.example' }),
  post('another type', modernCall(15, 'add'), { 'content-type': 'text/plain' }),
  post('nothing acceptable', modernCall(16, 'add'), { accept: 'text/html' }),
  { name: 'no JSON', body: '{', headers: headersFor('{', undefined) },
  { name: 'a key twice', body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', headers: headersFor('{', undefined) },
  { name: 'too deep', body: '['.repeat(10_000), headers: headersFor('{', undefined) },
  { name: 'too large', mayClose: true, body: `"${'x'.repeat(5_000_000)}"`, headers: headersFor('{', undefined) },
  { name: 'another path', path: '/no/such', body: '{}', headers: headersFor('{', undefined) },
  { name: 'another method', method: 'PUT', body: '{}' },
  {
    name: 'a preflight',
    method: 'OPTIONS',
    headers: { origin: 'http://localhost', 'access-control-request-headers': 'mcp-param-a' },
  },
  post('initialize', initialize('2025-11-25')),
  inSession('call in the session', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'add', arguments: { a: 2, b: 3 } },
  }),
  inSession('ping', { jsonrpc: '2.0', id: 2, method: 'ping' }),
  inSession('a second initialize', initialize('2025-11-25')),
  { name: 'the end of the session', method: 'DELETE', needs: 'session' },
  inSession('call after it', { jsonrpc: '2.0', id: 3, method: 'ping' }),
]
