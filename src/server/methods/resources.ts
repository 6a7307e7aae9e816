import type { ResourceContents } from '../../model/content.ts'
import type { CacheHints } from '../../model/nouns.ts'
import type { Principal } from '../../model/notification.ts'
import { silent } from '../../model/ports.ts'
import { isRefusal, Refusal } from '../../model/refusal.ts'
import type { Context } from '../context.ts'
import type { Core, Method } from '../core.ts'
import type { ResourceEntry, TemplateEntry } from '../entry.ts'
import { listPage } from '../listing.ts'
import type { Readable, Variables } from '../resource.ts'
import { isToolError, messageOf, type InputRequired } from '../result.ts'
import { openRound, runHandler, type Run } from '../run.ts'
import { isContents } from '../shapes.ts'
import { findVisible, isVisible, logMissing, quoted } from '../visibility.ts'

/** `resources/list`: the resources that the caller sees. */
export const listResources: Method<'resources/list'> = async (params, context, core) =>
  listPage('resources', params.cursor, context.principal, core)

/** `resources/templates/list`: the templates that the caller sees. */
export const listResourceTemplates: Method<'resources/templates/list'> = async (params, context, core) =>
  listPage('resourceTemplates', params.cursor, context.principal, core)

/** What a URI leads to for somebody: how to read it, or that it is listed with nothing behind it. */
interface Found {
  /** Whether somebody else would not be led here. */
  readonly personal: boolean
  /** The URI or the template that it is registered under. */
  readonly name: string
  readonly config: (ResourceEntry | TemplateEntry)['value']['config']
  readonly read: ((ctx: Context) => Promise<Readable> | Readable) | undefined
}

/** A hidden resource falls through to a visible template, as one that does not exist would. */
function find(uri: string, principal: Principal | undefined, core: Core): Found | undefined {
  const { resources, resourceTemplates } = core.snapshot()
  const exact = findVisible(resources, uri, principal)
  if (exact) {
    const { config, reader } = exact.value
    return { name: uri, personal: exact.scopes !== undefined, config, read: reader && ((ctx) => reader(uri, ctx)) }
  }
  let best: { readonly entry: TemplateEntry; readonly variables: Variables } | undefined
  for (const entry of resourceTemplates.ordered) {
    if (!isVisible(entry, principal)) continue
    if (best && entry.template.specificity <= best.entry.template.specificity) continue
    const variables = entry.template.match(uri)
    if (variables) best = { entry, variables }
  }
  if (!best) return undefined
  const { variables } = best
  const personal = resourceTemplates.scoped || resources.byKey.has(uri)
  const { config, reader } = best.entry.value
  return { name: best.entry.key, personal, config, read: reader && ((ctx) => reader(variables, ctx, uri)) }
}

/** What `uri` leads to for a caller. @throws Refusal `UnknownResource`; the log hears whether it is hidden or absent */
function lookUp(uri: string, principal: Principal | undefined, core: Core): Found {
  const found = find(uri, principal, core)
  if (found) return found
  const { logger } = core.ports
  if (logger !== silent) logMissing(uri, isRegistered(uri, core), principal, logger)
  throw new Refusal('UnknownResource', { data: { uri } })
}

/** Tries every template whatever is found before, so that hidden and absent take equally long. */
function isRegistered(uri: string, core: Core): boolean {
  const { resources, resourceTemplates } = core.snapshot()
  const fitting = resourceTemplates.ordered.filter(({ template }) => template.match(uri))
  return resources.byKey.has(uri) || fitting.length > 0
}

/** `resources/read`: from the resource of this URI, else from the first visible template that fits. */
export const readResource: Method<'resources/read'> = async (params, context, core, call) => {
  const { uri } = params
  const { name, personal, config, read } = lookUp(uri, context.principal, core)
  if (!read) throw new Refusal('UnassignedResource', { data: { uri } })
  const run = { core, call, context, name, target: uri }
  const round = await openRound(run)
  try {
    const outcome = await runHandler<Readable>(run, round, read)
    if ('asks' in outcome) return outcome.asks
    return { contents: toContents(uri, config.mimeType, outcome.value), ...hintsOf(config.cache, personal) }
  } catch (thrown) {
    throw failed(thrown, run)
  }
}

/** What a reader, getter or completer threw, as the refusal that carries its words. */
export function failed(thrown: unknown, { core, name, target }: Run): unknown {
  if (isRefusal(thrown)) return thrown
  if (isToolError(thrown)) return new Refusal('HandlerFailed', { message: thrown.message })
  core.ports.logger.error('a handler threw', { name, target: quoted(target), error: thrown })
  return new Refusal('HandlerFailed', {
    cause: thrown,
    ...(!core.options.maskErrors && { message: messageOf(thrown) }),
  })
}

/** The refusal of what a reader, getter or completer returned: the peer hears fixed words, the log what is wrong. */
export function misshapen(what: string): Refusal {
  return new Refusal('HandlerFailed', { cause: new TypeError(what) })
}

function toContents(
  uri: string,
  mimeType: string | undefined,
  read: Exclude<Readable, InputRequired>,
): readonly ResourceContents[] {
  const head = { uri, ...(mimeType !== undefined && { mimeType }) }
  if (typeof read === 'string') return [{ ...head, text: read }]
  if (read instanceof Uint8Array) return [{ ...head, blob: Buffer.from(read).toString('base64') }]
  const contents: readonly unknown[] = Array.isArray(read) ? read : [read]
  if (contents.length > 0 && contents.every(isContents)) return contents
  throw misshapen('The reader returned neither text, nor bytes, nor contents with a URI')
}

function hintsOf(hints: CacheHints | undefined, personal: boolean): CacheHints {
  return { ttlMs: hints?.ttlMs ?? 0, cacheScope: personal ? 'private' : (hints?.cacheScope ?? 'private') }
}

/** `resources/subscribe`: only to what the caller could read. */
export const subscribeResource: Method<'resources/subscribe'> = async (params, context, core) => {
  const { uri } = params
  if (!lookUp(uri, context.principal, core).read) throw new Refusal('UnassignedResource', { data: { uri } })
  await context.session?.subscribe(params.uri)
  return {}
}

/** `resources/unsubscribe`: also from what was never subscribed to. */
export const unsubscribeResource: Method<'resources/unsubscribe'> = async (params, context) => {
  await context.session?.unsubscribe(params.uri)
  return {}
}

/** Whether `principal` may know that the resource at `uri` changed: whether it could read it. */
export function mayKnow(uri: string, principal: Principal | undefined, core: Core): boolean {
  return find(uri, principal, core)?.read !== undefined
}
