// The official server, put together as its documentation says.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { definitions, serverInfo } from './tools.mjs'

/** @param {number} count @returns a factory of servers with that many tools; the schemas are made once. */
export function createFactory(count) {
  const tools = definitions(count).map(({ name, description, annotations, zod, input, output, run }) => {
    const inputSchema = zod ? input : fromJsonSchema(input)
    if (!output) return [name, { description, annotations, inputSchema }, (args) => text(run(args))]
    const structured = (args) => {
      const structuredContent = run(args)
      return { ...text(JSON.stringify(structuredContent)), structuredContent }
    }
    return [name, { description, annotations, inputSchema, outputSchema: fromJsonSchema(output) }, structured]
  })
  return () => {
    const server = new McpServer(serverInfo)
    for (const [name, config, handler] of tools) server.registerTool(name, config, handler)
    return server
  }
}

function text(value) {
  return { content: [{ type: 'text', text: value }] }
}
