// The official client 1.x: URL, revision (which it has to agree on by itself), how many tools are listed.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { driveBy, toAdd, verifySum, verifyTools } from './client.mjs'

const [url, , count] = process.argv.slice(2)
const client = new Client({ name: 'bench', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
verifyTools((await client.listTools()).tools, Number(count))
driveBy({
  call: async () => verifySum((await client.callTool(toAdd)).structuredContent),
  list: async () => verifyTools((await client.listTools()).tools, Number(count)),
})
