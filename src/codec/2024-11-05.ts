import { withheld } from './capabilities.ts'
import { lazy, ownersOf } from './define.ts'
import {
  anything,
  logLevel,
  many,
  must,
  named,
  number,
  object,
  one,
  or,
  partial,
  quiet,
  reference,
  text,
  textMap,
} from './fields.ts'
import { refusesTools, singleBlock } from './sampling.ts'
import { tasksExtension } from './tasks.ts'
import { toolResult } from './tool-result.ts'
import type { Revision } from './define.ts'
import type { Fields } from './fields.ts'

const meta: Fields = { _meta: anything }
const page: Fields = { cursor: or(text, 'BadCursor'), ...meta }
const pageOf = (list: string, noun: string): Fields => ({ [list]: many(noun), nextCursor: anything, ...meta })
const target: Fields = { uri: must(text), ...meta }

/** The first published revision. The ones after it state what they changed. */
export const revision20241105: () => Revision = lazy(() => ({
  revision: '2024-11-05',
  lifecycle: 'session',
  asking: 'live',
  batch: false,
  resultType: false,
  cacheable: [],
  mirrored: undefined,
  // Made for requests that stand alone.
  withheldExtensions: [tasksExtension],
  http: { versionHeader: 'none', sessions: false, resumable: false, priming: false, disconnectCancels: false },
  introduction: { params: 'InitializeParams', result: 'Introduction' },
  features: ownersOf({
    revision: [
      'handshake',
      'instructions',
      'ping',
      'ask.live',
      'ids.perSession',
      'pagination',
      'completion',
      'cancel',
      'cancel.byServer',
      'progress',
      'progress.byClient',
      'content.annotations',
      'resource.size',
      'resource.notFoundCode',
    ],
    server: [
      'tools',
      'tools.listChanged',
      'resources',
      'resources.subscribe',
      'resources.listChanged',
      'prompts',
      'prompts.listChanged',
      'logging',
    ],
    client: ['roots', 'roots.listChanged', 'sampling'],
    // No schema with a handshake lists extensions, but capabilities are open, and SEP-2133 declares them in `initialize`.
    both: ['experimental', 'extensions'],
    stdio: ['stdio'],
    'http+sse': ['sse'],
    with: { 'sampling.context': 'sampling', 'logLevel.session': 'logging' },
  }),
  requests: {
    ping: { params: 'EmptyParams', result: 'EmptyResult' },
    'tools/list': { params: 'ListParams', result: 'ListToolsResult', needs: 'tools' },
    'tools/call': { params: 'CallToolParams', result: 'CallToolResult', needs: 'tools' },
    'resources/list': { params: 'ListParams', result: 'ListResourcesResult', needs: 'resources' },
    'resources/templates/list': { params: 'ListParams', result: 'ListResourceTemplatesResult', needs: 'resources' },
    'resources/read': { params: 'ReadResourceParams', result: 'ReadResourceResult', needs: 'resources' },
    'resources/subscribe': { params: 'SubscribeParams', result: 'EmptyResult', needs: 'resources.subscribe' },
    'resources/unsubscribe': { params: 'SubscribeParams', result: 'EmptyResult', needs: 'resources.subscribe' },
    'prompts/list': { params: 'ListParams', result: 'ListPromptsResult', needs: 'prompts' },
    'prompts/get': { params: 'GetPromptParams', result: 'GetPromptResult', needs: 'prompts' },
    'completion/complete': { params: 'CompleteParams', result: 'CompleteResult' },
    'logging/setLevel': { params: 'SetLevelParams', result: 'EmptyResult', needs: 'logging' },
  },
  asks: {
    ping: { params: 'EmptyParams', result: 'EmptyResult' },
    'sampling/createMessage': {
      params: 'SampleParams',
      result: 'SampleResult',
      needs: 'sampling',
      refuses: refusesTools,
    },
    'roots/list': { params: 'EmptyParams', result: 'ListRootsResult', needs: 'roots' },
  },
  notifications: {
    'notifications/cancelled': 'CancelledParams',
    'notifications/progress': 'ProgressParams',
    'notifications/message': 'LogParams',
    'notifications/tools/list_changed': 'EmptyParams',
    'notifications/prompts/list_changed': 'EmptyParams',
    'notifications/resources/list_changed': 'EmptyParams',
    'notifications/resources/updated': 'ResourceUpdatedParams',
  },
  clientNotifications: {
    'notifications/initialized': 'EmptyParams',
    'notifications/cancelled': 'CancelledParams',
    'notifications/progress': 'ProgressParams',
    'notifications/roots/list_changed': 'EmptyParams',
  },
  nouns: {
    InitializeParams: {
      protocolVersion: or(must(text), 'MalformedInitialize'),
      capabilities: or(must(one('ClientCapabilities')), 'MalformedInitialize'),
      clientInfo: or(must(named), 'MalformedInitialize'),
      ...meta,
    },
    Introduction: {
      protocolVersion: quiet(anything),
      capabilities: one('ServerCapabilities'),
      serverInfo: quiet(one('Implementation')),
      instructions: anything,
      ...meta,
    },
    Implementation: { name: anything, version: anything },
    ClientCapabilities: {
      experimental: anything,
      extensions: anything,
      roots: one('RootsCapability'),
      sampling: one('SamplingCapability'),
    },
    RootsCapability: { listChanged: anything },
    SamplingCapability: {},
    ServerCapabilities: {
      experimental: anything,
      extensions: anything,
      logging: anything,
      prompts: anything,
      resources: anything,
      tools: anything,
    },

    EmptyParams: meta,
    EmptyResult: meta,
    ListParams: page,

    CallToolParams: { name: must(text), arguments: object, ...meta },
    CallToolResult: { content: many('Content'), isError: anything, ...meta },
    ListToolsResult: pageOf('tools', 'Tool'),
    Tool: { name: anything, description: anything, inputSchema: anything },

    ReadResourceParams: target,
    ReadResourceResult: { contents: many('ResourceContents'), ...meta },
    SubscribeParams: target,
    ListResourcesResult: pageOf('resources', 'Resource'),
    ListResourceTemplatesResult: pageOf('resourceTemplates', 'ResourceTemplate'),
    Resource: {
      uri: anything,
      name: anything,
      description: anything,
      mimeType: anything,
      annotations: one('Annotations'),
      size: anything,
    },
    ResourceTemplate: {
      uriTemplate: anything,
      name: anything,
      description: anything,
      mimeType: anything,
      annotations: one('Annotations'),
    },
    ResourceContents: { uri: anything, mimeType: anything, text: anything, blob: anything },

    GetPromptParams: { name: must(text), arguments: textMap, ...meta },
    GetPromptResult: { description: anything, messages: many('PromptMessage'), ...meta },
    ListPromptsResult: pageOf('prompts', 'Prompt'),
    Prompt: { name: anything, description: anything, arguments: many('PromptArgument') },
    PromptArgument: { name: anything, description: anything, required: anything },
    PromptMessage: { role: anything, content: one('Content') },

    CompleteParams: { ref: must(reference), argument: must(partial), ...meta },
    CompleteResult: { completion: anything, ...meta },
    Reference: { type: anything, name: anything, uri: anything },

    SetLevelParams: { level: must(logLevel), ...meta },
    LogParams: { level: anything, logger: anything, data: anything, ...meta },
    ProgressParams: { progressToken: anything, progress: anything, total: anything, ...meta },
    CancelledParams: { requestId: anything, reason: anything, ...meta },
    ResourceUpdatedParams: { uri: anything, ...meta },

    Annotations: { audience: anything, priority: anything },
    TextContent: { type: anything, text: anything, annotations: one('Annotations') },
    ImageContent: { type: anything, data: anything, mimeType: anything, annotations: one('Annotations') },
    EmbeddedResource: { type: anything, resource: one('ResourceContents'), annotations: one('Annotations') },

    SampleParams: {
      messages: must(many('SamplingMessage')),
      maxTokens: must(number),
      modelPreferences: object,
      systemPrompt: text,
      includeContext: text,
      temperature: number,
      stopSequences: anything,
      metadata: anything,
      ...meta,
    },
    SamplingMessage: { role: anything, content: one('SamplingContent') },
    SampleResult: { role: anything, content: one('SamplingContent'), model: anything, stopReason: anything, ...meta },
    ListRootsResult: { roots: many('Root'), ...meta },
    Root: { uri: anything, name: anything },
  },
  unions: {
    Content: { text: 'TextContent', image: 'ImageContent', resource: 'EmbeddedResource' },
    SamplingContent: { text: 'TextContent', image: 'ImageContent' },
  },
  encoders: {
    CallToolResult: toolResult('none'),
    SamplingMessage: singleBlock,
    SampleResult: singleBlock,
    ClientCapabilities: withheld(tasksExtension),
    ServerCapabilities: withheld(tasksExtension),
  },
  decoders: {},
  refusals: {},
}))
