import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { whoAmI } from './client.ts'
import { checkInterop } from './suite.ts'
import type { Connect } from './suite.ts'
import type { Reach } from './reach.ts'

const connect: Connect = async (reach, answers) => {
  const client = new Client(whoAmI, { capabilities: { elicitation: { form: {} }, sampling: {} } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicit(params.message))
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    const asked = [params.messages[0]?.content].flat()[0]
    const text = answers.sample(asked?.type === 'text' ? asked.text : '')
    return { role: 'assistant', model: 'none', content: { type: 'text', text } }
  })
  let agreed = ''
  await client.connect(listening(toTransport(reach), (revision) => (agreed = revision)))
  return {
    agreed,
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    listTemplates: () => client.listResourceTemplates(),
    listPrompts: () => client.listPrompts(),
    call: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, undefined, {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: ({ progress, total }) => onProgress(progress, total) }),
      }),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    completePrompt: (name, argument, value) =>
      client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } }),
    close: () => client.close(),
  }
}

function toTransport(reach: Reach): Transport {
  if ('url' in reach) return new StreamableHTTPClientTransport(reach.url)
  const [command, ...args] = reach.command
  return new StdioClientTransport({ command, args, stderr: 'ignore' })
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

checkInterop('@modelcontextprotocol/sdk', connect, { revision: '2025-11-25', unknownResource: -32002 })
