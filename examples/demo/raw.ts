// A visitor made of nothing but fetch, for what no official package does: 2024-11-05 in an HTTP session.
import { z } from 'zod'
import { whoWeAre } from './visitor.ts'
import type { Visitor } from './visitor.ts'

const message = z.looseObject({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.looseObject({ progress: z.number().optional() }).optional(),
  result: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
})
type Message = z.infer<typeof message>

export async function connectRaw(url: URL, revision: string): Promise<Visitor> {
  let session: string | undefined
  let id = 0

  async function post(body: object): Promise<Message[]> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })
    session ??= response.headers.get('mcp-session-id') ?? undefined
    return toMessages(await response.text(), response.headers.get('content-type') ?? '')
  }

  async function request(method: string, params: object, onProgress?: (progress: number) => void) {
    const messages = await post({ id: ++id, method, params })
    for (const { method, params } of messages)
      if (method === 'notifications/progress' && params?.progress !== undefined) onProgress?.(params.progress)
    const response = messages.find((each) => each.id === id)
    if (response?.error) throw new Error(`${response.error.message} (${response.error.code})`)
    if (!response?.result) throw new Error(`${method} was not answered`)
    return response.result
  }

  const { protocolVersion } = await request('initialize', {
    protocolVersion: revision,
    capabilities: {},
    clientInfo: whoWeAre,
  })
  await post({ method: 'notifications/initialized' })

  return {
    agreed: protocolVersion ?? '',
    asked: [],
    listTools: () => request('tools/list', {}),
    callTool: (name, args, onProgress) =>
      request('tools/call', { name, arguments: args, ...(onProgress && { _meta: { progressToken: 1 } }) }, onProgress),
    read: (uri) => request('resources/read', { uri }),
    prompt: (name, args) => request('prompts/get', { name, arguments: args }),
    complete: (uri, name, value) =>
      request('completion/complete', { ref: { type: 'ref/resource', uri }, argument: { name, value } }),
    async close() {
      await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session ?? '' } })
    },
  }
}

function toMessages(text: string, contentType: string): Message[] {
  if (text === '') return []
  if (!contentType.startsWith('text/event-stream')) return [message.parse(JSON.parse(text))]
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && line.trim() !== 'data:')
    .map((line) => message.parse(JSON.parse(line.slice('data:'.length))))
}
