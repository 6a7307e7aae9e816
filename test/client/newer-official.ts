// The official server of the newer package, as its documentation says; started by the tests over stdio.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const numbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
} as const
const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const

/** A server with a tool that adds up, a resource and a prompt. */
export function newerOfficialServer(): McpServer {
  const server = new McpServer({ name: 'official', version: '2.0.0' }, { instructions: 'add up' })
  server.registerTool('add', { inputSchema: fromJsonSchema(numbers), outputSchema: fromJsonSchema(sum) }, (args) => {
    const { a, b } = args as { a: number; b: number }
    return { content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }
  })
  server.registerResource('a', 'memo://a', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'a' }] }))
  server.registerPrompt('greet', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] }))
  return server
}

if (process.argv[1] === import.meta.filename) serveStdio(newerOfficialServer)
