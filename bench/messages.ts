// The messages of the benchmarks, in the two eras of the protocol.

export type Era = '2026-07-28' | '2025-11-25'
export const eras: readonly Era[] = ['2026-07-28', '2025-11-25']

/** One thing that is asked for. */
export interface Question {
  /** What rows call it. */
  readonly what: string
  readonly method: 'tools/call' | 'tools/list'
  readonly params: Readonly<Record<string, unknown>>
}

const client = { name: 'bench-client', version: '1.0.0' }

/** A call of a read-only tool. */
export const call: Question = {
  what: 'tools/call',
  method: 'tools/call',
  params: { name: 'echo-0', arguments: { text: 'The quick brown fox jumps over the lazy dog', times: 1 } },
}
/** A call of a tool that may have an effect: in a session its outcome is kept, so that no repetition has another. */
export const effect: Question = {
  what: 'tools/call run once',
  method: 'tools/call',
  params: { name: 'add-1', arguments: { a: 19, b: 23 } },
}
export const list: Question = { what: 'tools/list', method: 'tools/list', params: {} }

/** Whether the era says everything in each request, and has no session. */
export function isSelfContained(era: Era): boolean {
  return era === '2026-07-28'
}

const openMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** The text of a request, by its id. Everything but the id is written once. */
export function requestText(era: Era, { method, params }: Question): (id: number) => string {
  const whole = isSelfContained(era) ? { ...params, _meta: openMeta } : params
  const rest = `,"method":"${method}","params":${JSON.stringify(whole)}}`
  return (id) => `{"jsonrpc":"2.0","id":${id}${rest}`
}

/** The headers that go with a request over HTTP. */
export function requestHeaders(era: Era, question: Question, session?: string): Record<string, string> {
  const { name } = question.params
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': era,
    ...(isSelfContained(era) && { 'mcp-method': question.method }),
    ...(isSelfContained(era) && typeof name === 'string' && { 'mcp-name': name }),
    ...(session !== undefined && { 'mcp-session-id': session }),
  }
}

/** The first message of a session. */
export function initializeText(era: Era): (id: number) => string {
  const params = JSON.stringify({ protocolVersion: era, capabilities: {}, clientInfo: client })
  return (id) => `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":${params}}`
}

export const initializedText = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

/**
 * The result that a response carries, in one JSON text or in one event of a stream.
 * @throws for an error, a tool's error, and a list that is not `tools` long
 */
export function resultOf(body: string, tools?: number): Record<string, unknown> {
  const text = body.startsWith('{') ? body : (/^data: ?(\{.*)$/m.exec(body)?.[1] ?? '')
  const { result } = JSON.parse(text === '' ? '{}' : text) as { result?: Record<string, unknown> }
  if (!result || result.isError) throw new Error(`Not a result: ${body.slice(0, 400)}`)
  if (tools !== undefined && Array.isArray(result.tools) && result.tools.length !== tools) {
    throw new Error(`${result.tools.length} tools were listed, not ${tools}`)
  }
  return result
}
