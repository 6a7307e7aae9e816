// A visitor made of `@modelcontextprotocol/sdk`, which offers 2025-11-25.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { answer, reportLosses, whoWeAre } from './visitor.ts'
import type { Reach, Visitor } from './visitor.ts'

export async function connectOfficialV1(reach: Reach): Promise<Visitor> {
  const client = new Client(whoWeAre, { capabilities: { elicitation: { form: {} } } })
  const asked: string[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return answer
  })
  let agreed = ''
  await client.connect(listening(toTransport(reach), (revision) => (agreed = revision)))
  return {
    agreed,
    asked,
    listTools: () => client.listTools(),
    callTool: (name, args, onProgress) =>
      client.callTool(
        { name, arguments: args },
        undefined,
        onProgress && { onprogress: ({ progress }) => onProgress(progress) },
      ),
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

/** The client keeps the revision to itself, but tells its transport. */
function listening(transport: Transport, onAgreed: (revision: string) => void): Transport {
  const tell = transport.setProtocolVersion?.bind(transport)
  transport.setProtocolVersion = (revision) => {
    onAgreed(revision)
    tell?.(revision)
  }
  return transport
}
