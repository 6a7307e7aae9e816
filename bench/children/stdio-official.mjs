// The official server on standard input and output with the same tool.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const schema = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
}
const config = process.argv[2] === '0' ? {} : { inputSchema: fromJsonSchema(schema) }
const answer = ({ a = 1, b = 2 }) => ({ content: [{ type: 'text', text: String(a + b) }] })
serveStdio(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  server.registerTool('add', config, answer)
  return server
})
