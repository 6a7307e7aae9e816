import { ownersOf } from './define.ts'
import { any, logLevel, many, must, named, number, object, one, or, partial, quiet, reference, text, textMap } from './fields.ts'
import { refusesTools, singleBlock } from './sampling.ts'
import { toolResult } from './tool-result.ts'
import type { Revision } from './define.ts'
import type { Fields } from './fields.ts'

const meta: Fields = { _meta: any }
const page: Fields = { cursor: or(text, 'BadCursor'), ...meta }
const pageOf = (list: string, noun: string): Fields => ({ [list]: many(noun), nextCursor: any, ...meta })
const target: Fields = { uri: must(text), ...meta }

/** The first published revision. The ones after it state what they changed. */
export const revision20241105: Revision = {
  revision: '2024-11-05',
  lifecycle: 'session',
  asking: 'live',
  batch: false,
  resultType: false,
  cacheable: [],
  mirrored: undefined,
  withheldExtensions: [],
  http: { versionHeader: 'none', sessions: false, resumable: false, priming: false, disconnectCancels: false },
  introduction: { params: 'InitializeParams', result: 'Introduction' },
  features: ownersOf({
    revision: [
      'handshake', 'instructions', 'ping', 'ask.live', 'ids.perSession', 'pagination', 'completion',
      'cancel', 'cancel.byServer', 'progress', 'progress.byClient',
      'content.annotations', 'resource.size', 'resource.notFoundCode',
    ],
    server: [
      'tools', 'tools.listChanged', 'resources', 'resources.subscribe', 'resources.listChanged',
      'prompts', 'prompts.listChanged', 'logging',
    ],
    client: ['roots', 'roots.listChanged', 'sampling'],
    both: ['experimental'],
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
    'sampling/createMessage': { params: 'SampleParams', result: 'SampleResult', needs: 'sampling', refuses: refusesTools },
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
      protocolVersion: quiet(any),
      capabilities: one('ServerCapabilities'),
      serverInfo: quiet(one('Implementation')),
      instructions: any,
      ...meta,
    },
    Implementation: { name: any, version: any },
    ClientCapabilities: { experimental: any, roots: one('RootsCapability'), sampling: one('SamplingCapability') },
    RootsCapability: { listChanged: any },
    SamplingCapability: {},
    ServerCapabilities: { experimental: any, logging: any, prompts: any, resources: any, tools: any },

    EmptyParams: meta,
    EmptyResult: meta,
    ListParams: page,

    CallToolParams: { name: must(text), arguments: object, ...meta },
    CallToolResult: { content: many('Content'), isError: any, ...meta },
    ListToolsResult: pageOf('tools', 'Tool'),
    Tool: { name: any, description: any, inputSchema: any },

    ReadResourceParams: target,
    ReadResourceResult: { contents: many('ResourceContents'), ...meta },
    SubscribeParams: target,
    ListResourcesResult: pageOf('resources', 'Resource'),
    ListResourceTemplatesResult: pageOf('resourceTemplates', 'ResourceTemplate'),
    Resource: { uri: any, name: any, description: any, mimeType: any, annotations: one('Annotations'), size: any },
    ResourceTemplate: { uriTemplate: any, name: any, description: any, mimeType: any, annotations: one('Annotations') },
    ResourceContents: { uri: any, mimeType: any, text: any, blob: any },

    GetPromptParams: { name: must(text), arguments: textMap, ...meta },
    GetPromptResult: { description: any, messages: many('PromptMessage'), ...meta },
    ListPromptsResult: pageOf('prompts', 'Prompt'),
    Prompt: { name: any, description: any, arguments: many('PromptArgument') },
    PromptArgument: { name: any, description: any, required: any },
    PromptMessage: { role: any, content: one('Content') },

    CompleteParams: { ref: must(reference), argument: must(partial), ...meta },
    CompleteResult: { completion: any, ...meta },
    Reference: { type: any, name: any, uri: any },

    SetLevelParams: { level: must(logLevel), ...meta },
    LogParams: { level: any, logger: any, data: any, ...meta },
    ProgressParams: { progressToken: any, progress: any, total: any, ...meta },
    CancelledParams: { requestId: any, reason: any, ...meta },
    ResourceUpdatedParams: { uri: any, ...meta },

    Annotations: { audience: any, priority: any },
    TextContent: { type: any, text: any, annotations: one('Annotations') },
    ImageContent: { type: any, data: any, mimeType: any, annotations: one('Annotations') },
    EmbeddedResource: { type: any, resource: one('ResourceContents'), annotations: one('Annotations') },

    SampleParams: {
      messages: must(many('SamplingMessage')),
      maxTokens: must(number),
      modelPreferences: object,
      systemPrompt: text,
      includeContext: text,
      temperature: number,
      stopSequences: any,
      metadata: any,
      ...meta,
    },
    SamplingMessage: { role: any, content: one('SamplingContent') },
    SampleResult: { role: any, content: one('SamplingContent'), model: any, stopReason: any, ...meta },
    ListRootsResult: { roots: many('Root'), ...meta },
    Root: { uri: any, name: any },
  },
  unions: {
    Content: { text: 'TextContent', image: 'ImageContent', resource: 'EmbeddedResource' },
    SamplingContent: { text: 'TextContent', image: 'ImageContent' },
  },
  encoders: { CallToolResult: toolResult('none'), SamplingMessage: singleBlock, SampleResult: singleBlock },
  decoders: {},
  refusals: {},
}
