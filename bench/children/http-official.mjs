// The official server on node:http. `/mcp` is createMcpHandler behind toNodeHandler; `/session` keeps a transport per
// session, answering with JSON rather than event streams, which is the faster of the two. Each has a path of its own,
// so that neither pays for telling the eras apart.
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createFactory } from './official.mjs'
import { reportTo } from './report.mjs'

const factory = createFactory(Number(process.argv[2]))
const isOurHost = localhostHostValidation()
const isOurOrigin = localhostOriginValidation()
const modern = toNodeHandler(createMcpHandler(factory, { legacy: 'reject' }))
const sessions = new Map()

async function inSession(request, response) {
  const known = sessions.get(request.headers['mcp-session-id'])
  if (known) return known.handleRequest(request, response)
  const transport = new NodeStreamableHTTPServerTransport({
    enableJsonResponse: true,
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  await factory().connect(transport)
  await transport.handleRequest(request, response)
}

const server = createServer((request, response) => {
  if (!isOurHost(request, response) || !isOurOrigin(request, response)) return
  void (request.url === '/session' ? inSession(request, response) : modern(request, response))
})
server.listen(0, '127.0.0.1', () => reportTo(server.address().port))
