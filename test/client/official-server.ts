// The official server of the older package, as its documentation says; started by the tests over stdio.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

/** A server with a tool that adds and one that asks. */
export function officialServer(): McpServer {
  const server = new McpServer({ name: 'official', version: '1.0.0' }, { instructions: 'add up' })
  server.registerTool(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  )
  server.registerTool('asks', {}, async () => {
    const answer = await server.server.elicitInput({
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: { sure: { type: 'boolean', default: true } } },
    })
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
  })
  server.registerResource('a', 'memo://a', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'a' }] }))
  return server
}

if (process.argv[1] === import.meta.filename) await officialServer().connect(new StdioServerTransport())
