// A visitor made of `@modelcontextprotocol/client`, which can be told which revision to offer.
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientOptions, Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { answer, reportLosses, whoWeAre } from './visitor.ts'
import type { Reach, Visitor } from './visitor.ts'

/** Its way to say which revision: a list for those with a handshake, a pin for those without. */
export function offer(revision: string, handshake: boolean): ClientOptions {
  return handshake ? { supportedProtocolVersions: [revision] } : { versionNegotiation: { mode: { pin: revision } } }
}

export async function connectOfficialV2(reach: Reach, offered: ClientOptions): Promise<Visitor> {
  const client = new Client(whoWeAre, { capabilities: { elicitation: { form: {} } }, ...offered })
  const asked: string[] = []
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return answer
  })
  await client.connect(toTransport(reach))
  return {
    agreed: client.getNegotiatedProtocolVersion() ?? '',
    asked,
    listTools: () => client.listTools(),
    callTool: (name, args, onProgress) =>
      client.callTool({ name, arguments: args }, onProgress && { onprogress: ({ progress }) => onProgress(progress) }),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (uri, name, value) => client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } }),
    close: () => client.close(),
  }
}

function toTransport(reach: Reach): Transport {
  if ('url' in reach) return new StreamableHTTPClientTransport(reach.url)
  if ('sse' in reach) return new SSEClientTransport(reach.sse)
  const [command, ...args] = reach.command
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...getDefaultEnvironment(), ...reportLosses },
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (chunk) => reach.stderr(String(chunk)))
  return transport
}
