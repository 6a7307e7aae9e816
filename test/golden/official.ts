import { isObject } from '../../src/model/json.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Crossed } from '../../src/testing.ts'
import type { OfficialSchema } from '../codec/official-schema.ts'

/** What the official schemas call the result of each method. */
export const resultDefinitions: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  'server/discover': 'DiscoverResult',
  ping: 'EmptyResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'logging/setLevel': 'EmptyResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
}

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'

/** What a text that crossed was written in, and what it answers. */
interface Asked {
  readonly method: string
  /** Named by the request; `undefined`: that of the session. */
  readonly revision: string | undefined
}

/**
 * What is wrong with what a server said, by the official schema of the revision it was said in. Content that is meant
 * to be unknown to every schema is not judged: `exempt` tells it by the text of its message. A revision that the server
 * does not serve, `serves` says, means nothing to it.
 */
export function officialFaults(
  crossed: readonly Crossed[],
  schemaOf: (revision: string) => OfficialSchema | undefined,
  exempt: (text: string) => boolean,
  serves: (revision: string) => boolean,
): string[] {
  const asked = new Map<unknown, Asked[]>()
  let session: string | undefined
  const faults: string[] = []
  for (const { from, text } of crossed) {
    for (const message of messagesOf(text)) {
      if (from === 'client') {
        if (message.method !== undefined)
          asked.set(message.id, [...(asked.get(message.id) ?? []), askedBy(message, serves)])
        continue
      }
      const request = message.method === undefined ? answeredBy(message, asked.get(message.id) ?? []) : undefined
      if (request?.method === 'initialize' && isObject(message.result))
        session = String(message.result['protocolVersion'])
      const revision = request?.revision ?? (isTagged(message) ? newestIn(asked) : undefined) ?? session
      const schema = revision === undefined ? undefined : schemaOf(revision)
      if (!schema || exempt(text)) continue
      faults.push(...messageFaults(message, request?.method, schema).map((fault) => `${revision}: ${fault} in ${text}`))
    }
  }
  return faults
}

function messagesOf(text: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).filter(isObject)
  } catch {
    return []
  }
}

function askedBy({ method, params }: JsonObject, serves: (revision: string) => boolean): Asked {
  const meta = isObject(params) ? params['_meta'] : undefined
  const revision = isObject(meta) ? meta[versionKey] : undefined
  return { method: String(method), revision: typeof revision === 'string' && serves(revision) ? revision : undefined }
}

/** Takes the request that a message answers: of several with one id the first that was asked in the same terms. */
function answeredBy({ result }: JsonObject, asked: Asked[]): Asked | undefined {
  const modern = isObject(result) && result['resultType'] !== undefined
  // Of equal ids in flight the later ones are refused.
  const at =
    result === undefined ? asked.length - 1 : asked.findIndex(({ revision }) => (revision !== undefined) === modern)
  return asked.splice(Math.max(at, 0), 1)[0]
}

function isTagged({ params }: JsonObject): boolean {
  const meta = isObject(params) ? params['_meta'] : undefined
  return isObject(meta) && meta[subscriptionKey] !== undefined
}

function newestIn(asked: ReadonlyMap<unknown, readonly Asked[]>): string | undefined {
  return [...asked.values()]
    .flat()
    .map(({ revision }) => revision)
    .filter((revision) => revision !== undefined)
    .sort()
    .at(-1)
}

/** What is wrong with one message of a server; `method` is that of the request that it answers. */
export function messageFaults(message: JsonObject, method: string | undefined, schema: OfficialSchema): string[] {
  if (message['method'] !== undefined) {
    return schema.faults(message['id'] === undefined ? 'ServerNotification' : 'ServerRequest', message)
  }
  if (message['error'] !== undefined) {
    // The older schemas know no error without an id; JSON-RPC 2.0 asks for null where it could not be read.
    if (message['id'] === null && 'JSONRPCError' in schema.definitions) return []
    return schema.faults(
      'JSONRPCErrorResponse' in schema.definitions ? 'JSONRPCErrorResponse' : 'JSONRPCError',
      message,
    )
  }
  const result = isObject(message['result']) ? message['result'] : {}
  if (result['resultType'] === 'input_required') return schema.faults('InputRequiredResult', result)
  if (isObject(result['task']) && 'CreateTaskResult' in schema.definitions)
    return schema.faults('CreateTaskResult', result)
  const definition = method === undefined ? undefined : resultDefinitions[method]
  return definition === undefined ? [`an answer to nothing`] : schema.faults(definition, result)
}
