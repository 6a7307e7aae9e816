// The official server on standard input and output with one tool.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const inputSchema = fromJsonSchema({
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
})
serveStdio(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  server.registerTool('add', { inputSchema }, ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }))
  return server
})
