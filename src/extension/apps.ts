import type { CallToolResult, ListToolsResult } from '../model/call.ts'
import type { Feature } from '../model/feature.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { isLasting, lasting } from '../model/lasting.ts'
import type { Tool } from '../model/nouns.ts'
import type { Context } from '../server/context.ts'
import type { Extension } from '../server/extension.ts'
import type { Middleware } from '../server/middleware.ts'
import type { Readable, ResourceConfig, ResourceValue } from '../server/resource.ts'
import type { ToolValue } from '../server/tool.ts'

/** The extension's identifier (MCP Apps, "Extension Identifier"). */
export const appsIdentifier = 'io.modelcontextprotocol/ui'

/** The media type of a view (MCP Apps, "Content Requirements"). */
export const viewMimeType = 'text/html;profile=mcp-app'

const feature: Feature = `extensions.${appsIdentifier}`

/** The origins that a view may reach; what is left out is closed. */
export interface ViewOrigins {
  /** For `fetch`, XHR and WebSocket. */
  readonly connectDomains?: readonly string[]
  /** For scripts, styles, pictures, fonts and media. */
  readonly resourceDomains?: readonly string[]
  /** For frames within the view. */
  readonly frameDomains?: readonly string[]
  /** For the document's base URI. */
  readonly baseUriDomains?: readonly string[]
}

/** What a host has to know to show a view; it goes into `_meta.ui` of the resource and of its contents. */
export interface ViewSettings {
  readonly csp?: ViewOrigins
  /** What the view would like to use. It cannot count on it. */
  readonly permissions?: {
    readonly [What in 'camera' | 'microphone' | 'geolocation' | 'clipboardWrite']?: Readonly<Record<string, never>>
  }
  /** An origin of its own, in whatever form the host wants it. */
  readonly domain?: string
  readonly prefersBorder?: boolean
}

/** What may be said of a view. */
export type ViewConfig = Omit<ResourceConfig, 'mimeType'> & { readonly ui?: ViewSettings }

/** Reads a view's HTML: one whole document. */
export type ViewReader = (ctx: Context) => Promise<string> | string

/**
 * Declares a view: an HTML document that hosts show in a sandbox (MCP Apps, "UI Resource Format").
 * @param uri begins with `ui://`
 * @throws if it does not
 */
export function view(uri: string, { ui, ...config }: ViewConfig, html: string | ViewReader): ResourceValue {
  if (!uri.startsWith('ui://'))
    throw new TypeError(`${JSON.stringify(uri)} is the URI of no view: those begin with ui://`)
  // An interface has no index signature, but is JSON all the same.
  const settings = ui as JsonObject | undefined
  const contents = async (given: string, ctx: Context): Promise<Readable> => ({
    uri: given,
    mimeType: viewMimeType,
    text: typeof html === 'string' ? html : await html(ctx),
    ...(settings && { _meta: { ui: settings } }),
  })
  const _meta = settings ? withUi(config._meta, settings) : config._meta
  return {
    kind: 'resource',
    uri,
    config: { ...config, mimeType: viewMimeType, ...(_meta && { _meta }) },
    reader: contents,
  }
}

/** Who may use a tool: the model, the views of the same server, or both. */
export type ToolAudience = 'model' | 'app'

/** How a tool takes part in an app. */
export interface AppToolOptions {
  /** The view that shows the tool's results. */
  readonly view?: ResourceValue | string
  /** Default: both. A tool that is for views alone is neither listed to nor called by clients without the extension. */
  readonly visibility?: readonly [ToolAudience, ...ToolAudience[]]
}

/** A tool as part of an app; the tool itself is left as it is (MCP Apps, "Resource Discovery"). */
export function appTool<Name extends string, I, O>(
  tool: ToolValue<Name, I, O>,
  { view: shown, visibility }: AppToolOptions,
): ToolValue<Name, I, O> {
  const resourceUri = typeof shown === 'object' ? shown.uri : shown
  const ui = { ...(resourceUri !== undefined && { resourceUri }), ...(visibility && { visibility }) }
  const { needs = [], _meta } = tool.config
  const hidden = visibility !== undefined && !visibility.includes('model')
  return {
    ...tool,
    config: { ...tool.config, _meta: withUi(_meta, ui), ...(hidden && { needs: [...needs, feature] }) },
  }
}

/** What an app is made of. */
export interface Apps {
  readonly views: readonly ResourceValue[]
  /** Made by {@link appTool}. */
  readonly tools: readonly ToolValue[]
}

/**
 * MCP Apps as an extension: views, and the tools that go with them. A client that does not declare the extension gets
 * the same tools without those that are for views alone, and text in every result.
 * @throws if a tool names a view that is not among `views`
 */
export function apps({ views, tools }: Apps): Extension {
  const known = new Set(views.map(({ uri }) => uri))
  for (const { name, config } of tools) {
    const uri = uiOf(config).resourceUri
    if (uri !== undefined && !(typeof uri === 'string' && known.has(uri))) {
      throw new TypeError(`tool ${JSON.stringify(name)}: its view ${JSON.stringify(uri)} is not among the views`)
    }
  }
  return { identifier: appsIdentifier, primitives: [...views, ...tools], always: around(tools) }
}

/** Whether this client shows views. */
export function canShowViews(ctx: Context): boolean {
  return ctx.can(feature)
}

function around(tools: readonly ToolValue[]): Middleware {
  const shown = new Set(tools.filter(({ config }) => uiOf(config).resourceUri !== undefined).map(({ name }) => name))
  /** Pages that last are the same object each time, and so are their copies, so that their text is written once. */
  const copies = new WeakMap<object, { readonly [who in 'host' | 'other']: ListToolsResult }>()
  return {
    list: async (call, context, next) => {
      const page = await next(call, context)
      if (!('tools' in page)) return page
      const known = copies.get(page) ?? {
        host: personal(page, page.tools),
        other: personal(page, page.tools.filter(isForModels)),
      }
      if (isLasting(page)) copies.set(page, known)
      return context.features.has(feature) ? known.host : known.other
    },
    call: async (call, context, next) => {
      const result = await next(call, context)
      return result.resultType === undefined && shown.has(call.params.name) ? withText(result) : result
    },
  }
}

/** A page that depends on who asks: nobody may keep it for somebody else. */
function personal(page: ListToolsResult, tools: readonly Tool[]): ListToolsResult {
  const copy: ListToolsResult = { ...page, tools: Object.freeze([...tools]), cacheScope: 'private' }
  return isLasting(page) ? lasting(copy) : copy
}

function isForModels(tool: Tool): boolean {
  const { visibility } = uiOf(tool)
  return !Array.isArray(visibility) || visibility.includes('model')
}

/** Where content was given that has no text, the text copy of what the view is to show. */
function withText(result: CallToolResult): CallToolResult {
  const { content, structuredContent } = result
  if (content === undefined || content.some(({ type }) => type === 'text')) return result
  const text = structuredContent === undefined ? 'Done. There is nothing to read.' : JSON.stringify(structuredContent)
  return { ...result, content: [...content, { type: 'text', text }] }
}

function uiOf({ _meta }: { readonly _meta?: JsonObject }): { readonly [name: string]: Json | undefined } {
  const ui = _meta && own(_meta, 'ui')
  return isObject(ui) ? ui : {}
}

function withUi(meta: JsonObject | undefined, ui: JsonObject): JsonObject {
  return { ...meta, ui: { ...uiOf({ ...(meta && { _meta: meta }) }), ...ui } }
}
