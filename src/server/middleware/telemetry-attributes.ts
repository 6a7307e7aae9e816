import type { Attributes } from '@opentelemetry/api'
import type { Call } from '../../model/call.ts'
import { own } from '../../model/json.ts'
import type { CallContext } from '../../model/served.ts'

/** Characters of a caller's text that stand in a name; no tool's name is longer. */
const maxName = 128

/** The name of an operation's span: the method, and the tool or prompt it is about. */
export function nameOf(call: Call): string {
  const target = targetOf(call)
  return target === undefined ? call.method : `${call.method} ${target}`
}

/** What is said of an operation wherever it is told of; few values each. */
export function attributesOf(call: Call, context: CallContext): Attributes {
  return {
    'mcp.method.name': call.method,
    'mcp.protocol.version': context.revision,
    ...(call.method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...carriedBy(context),
  }
}

/** The tool or prompt that an operation is about. */
export function targetAttributes(call: Call): Attributes {
  const target = targetOf(call)
  if (target === undefined) return {}
  return call.method === 'tools/call' ? { 'gen_ai.tool.name': target } : { 'gen_ai.prompt.name': target }
}

function targetOf({ method, params }: Call): string | undefined {
  const name = method === 'tools/call' || method === 'prompts/get' ? own(params, 'name') : undefined
  return typeof name === 'string' ? name.slice(0, maxName) : undefined
}

function carriedBy({ features }: CallContext): Attributes {
  if (features.has('stdio')) return { 'network.transport': 'pipe' }
  if (features.has('http') || features.has('sse')) {
    return { 'network.transport': 'tcp', 'network.protocol.name': 'http' }
  }
  return {}
}
