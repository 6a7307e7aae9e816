import type { Attributes } from '@opentelemetry/api'
import type { Call } from '../../model/call.ts'
import { own } from '../../model/json.ts'
import type { CallContext } from '../../model/served.ts'

/** What is said of an operation wherever it is told of. */
export interface About {
  /** The method, and the tool or prompt it is about. */
  readonly name: string
  /** Method, revision, transport; few values each. */
  readonly kind: Attributes
  /** Those, and the tool or prompt, which is the caller's text until it is found. */
  readonly all: Attributes
}

/** Characters of a caller's text that stand in a name; no tool's name is longer. */
const maxName = 128
/** Operations that are remembered; callers can make up any number. */
const maxKept = 1_000

/** An operation as it is told from others. */
interface Kind {
  readonly method: string
  readonly target: string | undefined
  readonly revision: string
  readonly transport: Transport
}

/** Tells what there is to say of operations. What is said of two alike is the same object, made once. */
export function createAbout(): (call: Call, context: CallContext) => About {
  // By what they are about, so that no text has to be made to look one up; of each there are a few.
  const kept = new Map<string, (Kind & About)[]>()
  let size = 0
  return (call, context) => {
    const { method } = call
    const { revision } = context
    const target = targetOf(call)
    const transport = transportOf(context)
    const subject = target ?? method
    const known = kept
      .get(subject)
      ?.find(
        (one) =>
          one.method === method && one.revision === revision && one.transport === transport && one.target === target,
      )
    if (known) return known
    if (++size > maxKept) {
      kept.clear()
      size = 1
    }
    const fresh = { method, target, revision, transport, ...describe(method, revision, transport, target) }
    kept.set(subject, [...(kept.get(subject) ?? []), fresh])
    return fresh
  }
}

function describe(method: string, revision: string, transport: Transport, target: string | undefined): About {
  const isCall = method === 'tools/call'
  const kind = {
    'mcp.method.name': method,
    'mcp.protocol.version': revision,
    ...(isCall && { 'gen_ai.operation.name': 'execute_tool' }),
    ...transports[transport],
  }
  if (target === undefined) return { name: method, kind, all: kind }
  const all = { ...kind, [isCall ? 'gen_ai.tool.name' : 'gen_ai.prompt.name']: target }
  return { name: `${method} ${target}`, kind, all }
}

function targetOf({ method, params }: Call): string | undefined {
  const name = method === 'tools/call' || method === 'prompts/get' ? own(params, 'name') : undefined
  return typeof name === 'string' ? name.slice(0, maxName) : undefined
}

type Transport = keyof typeof transports

const transports = {
  pipe: { 'network.transport': 'pipe' },
  http: { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
  other: {},
}

function transportOf({ features }: CallContext): Transport {
  if (features.has('http') || features.has('sse')) return 'http'
  return features.has('stdio') ? 'pipe' : 'other'
}
