import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

/**
 * Every feature that some revision defines; which revision has which is told by the codecs' files.
 * A dotted name follows the capability that declares it: `tools.listChanged` is `listChanged` of `tools`. The part
 * `client.` stands before what a client declares under a name that a server declares too.
 */
export const features = [
  // How peers meet and what every message carries.
  'handshake',
  'discover',
  'instructions',
  'ping',
  'batch',
  'ask.live',
  'inputRequired',
  'ids.perSession',
  'error.withoutId',
  'resultType',
  'requestMeta',
  'meta.keys',
  'meta.nouns',
  'trace',
  'title',
  'icons',
  'implementation.description',
  'experimental',
  'extensions',
  'schema.2020-12',
  'schema.anyKeyword',
  'pagination',
  'pagination.emptyCursor',
  'cacheHints',
  'listen',
  'cancel',
  'cancel.byServer',
  'progress',
  'progress.message',
  'progress.byClient',
  // What a server offers.
  'tools',
  'tools.listChanged',
  'tool.annotations',
  'tool.title',
  'tool.icons',
  'tool.execution',
  'tool.outputSchema',
  'tool.outputSchema.any',
  'tool.headers',
  'tool.names',
  'structuredContent',
  'structuredContent.any',
  'invalidArguments.asResult',
  'content.annotations',
  'content.lastModified',
  'content.audio',
  'content.resourceLink',
  'lists.stable',
  'resources',
  'resources.subscribe',
  'resources.listChanged',
  'resource.size',
  'resource.notFoundCode',
  'prompts',
  'prompts.listChanged',
  'completion',
  'completion.context',
  'completions',
  'logging',
  'logLevel.session',
  'logLevel.request',
  // What a client offers.
  'roots',
  'roots.listChanged',
  'sampling',
  'sampling.context',
  'sampling.tools',
  'elicitation',
  'elicitation.form',
  'elicitation.url',
  'form.defaults',
  'form.titles',
  'form.multiSelect',
  'url.id',
  'url.complete',
  'url.requiredError',
  // Long jobs of 2025-11-25; later they are an extension.
  'tasks',
  'tasks.list',
  'tasks.cancel',
  'tasks.requests.tools.call',
  'client.tasks',
  'client.tasks.list',
  'client.tasks.cancel',
  'client.tasks.requests.sampling.createMessage',
  'client.tasks.requests.elicitation.create',
  'tasks.extension',
  // What a transport carries.
  'stdio',
  'sse',
  'http',
  'http.sessions',
  'http.resumable',
  'http.priming',
  'http.versionHeader',
  'http.versionHeader.always',
  'http.routingHeaders',
  'http.disconnectCancels',
  'http.originStatus',
  'authorization',
  'authorization.resourceMetadata',
  'authorization.stepUp',
  'authorization.issuer',
] as const

/** The name of a feature. Features of extensions are `extensions.` and the identifier. */
export type Feature = (typeof features)[number] | `extensions.${string}`

/** The first parts of the features that a client declares. */
const clientParts: ReadonlySet<string> = new Set(['roots', 'sampling', 'elicitation', 'extensions'])

/** Where a client declares `feature`: the keys from the root of its capabilities; `undefined` if it is none of a client's. */
export function clientPath(feature: Feature): readonly string[] | undefined {
  if (feature.startsWith('extensions.')) return ['extensions', feature.slice('extensions.'.length)]
  const parts = feature.split('.')
  if (parts[0] === 'client') return parts.slice(1)
  return clientParts.has(parts[0] ?? '') ? parts : undefined
}

/**
 * The client capabilities that `needed` features amount to, as an object keyed like `ClientCapabilities`:
 * `elicitation.url` is `{elicitation: {url: {}}}`. Features that no client declares add nothing.
 */
export function requiredCapabilities(needed: Iterable<Feature>): JsonObject {
  let required: JsonObject = {}
  for (const feature of needed) {
    const path = clientPath(feature)
    if (path) required = withPath(required, path, feature.endsWith('.listChanged') ? true : {})
  }
  return required
}

function withPath(object: JsonObject, path: readonly string[], leaf: Json): JsonObject {
  const [key, ...rest] = path
  if (key === undefined) return object
  const here = Object.hasOwn(object, key) ? object[key] : undefined
  const below = isObject(here) ? here : {}
  const value = rest.length > 0 ? withPath(below, rest, leaf) : (here ?? leaf)
  return { ...object, [key]: value }
}
