// The official client 2.x: URL, revision, how many tools are listed.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { driveBy, toAdd, verifySum, verifyTools } from './client.mjs'

const [url, revision, count] = process.argv.slice(2)
const isModern = revision === '2026-07-28'
const client = new Client(
  { name: 'bench', version: '1.0.0' },
  isModern ? { versionNegotiation: { mode: { pin: revision } } } : {},
)
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
const agreed = client.getNegotiatedProtocolVersion()
if (agreed !== revision) throw new Error(`${agreed} was agreed`)
// Listed once, as any program does, so that it knows the schemas of what it calls.
verifyTools((await client.listTools()).tools, Number(count))
driveBy({
  call: async () => verifySum((await client.callTool(toAdd)).structuredContent),
  list: async () => verifyTools((await client.listTools()).tools, Number(count)),
})
