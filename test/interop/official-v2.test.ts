import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientOptions, Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { whoAmI } from './client.ts'
import { checkInterop } from './suite.ts'
import type { Connect } from './suite.ts'
import type { Reach } from './reach.ts'

function connectWith(options: ClientOptions): Connect {
  return async (reach, answers) => {
    const client = new Client(whoAmI, { capabilities: { elicitation: { form: {} }, sampling: {} }, ...options })
    client.setRequestHandler('elicitation/create', ({ params }) => answers.elicit(params.message))
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      const asked = [params.messages[0]?.content].flat()[0]
      const text = answers.sample(asked?.type === 'text' ? asked.text : '')
      return { role: 'assistant', model: 'none', content: { type: 'text', text } }
    })
    await client.connect(toTransport(reach))
    return {
      agreed: client.getNegotiatedProtocolVersion() ?? '',
      listTools: () => client.listTools(),
      listResources: () => client.listResources(),
      listTemplates: () => client.listResourceTemplates(),
      listPrompts: () => client.listPrompts(),
      call: (name, args, { signal, onProgress } = {}) =>
        client.callTool(
          { name, arguments: args },
          {
            ...(signal && { signal }),
            ...(onProgress && { onprogress: ({ progress, total }) => onProgress(progress, total) }),
          },
        ),
      read: (uri) => client.readResource({ uri }),
      prompt: (name, args) => client.getPrompt({ name, arguments: args }),
      completePrompt: (name, argument, value) =>
        client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } }),
      close: () => client.close(),
    }
  }
}

function toTransport(reach: Reach): Transport {
  if ('url' in reach) return new StreamableHTTPClientTransport(reach.url)
  const [command, ...args] = reach.command
  return new StdioClientTransport({ command, args, stderr: 'ignore' })
}

// This client turns -32002, which older revisions have for it, into the newer -32602.
checkInterop('@modelcontextprotocol/client by default', connectWith({}), {
  revision: '2025-11-25',
  unknownResource: -32602,
})

checkInterop('@modelcontextprotocol/client in automatic mode', connectWith({ versionNegotiation: { mode: 'auto' } }), {
  revision: '2026-07-28',
  unknownResource: -32602,
})
