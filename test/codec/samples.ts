import type { Json, JsonObject } from '../../src/model/json.ts'

const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
const icons = [{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }]
const meta = { 'acme.example/k': 1 }
const resource = { uri: 'memo://a', mimeType: 'text/plain', text: 'a', _meta: meta }

/** One content block of every kind, each with all it can have. */
export const content: readonly Json[] = [
  { type: 'text', text: 'a', annotations, _meta: meta },
  { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations, _meta: meta },
  { type: 'resource', resource, annotations },
  { type: 'resource', resource: { uri: 'memo://b', blob: 'AAAA' }, _meta: meta },
  {
    type: 'resource_link',
    uri: 'memo://a',
    name: 'a',
    title: 'A',
    description: 'd',
    size: 5,
    icons,
    annotations,
    _meta: meta,
  },
]

const described = { title: 'T', description: 'd', icons, _meta: meta }
const task = {
  taskId: 't',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: null,
  pollIntervalMs: 5,
}
const page = { nextCursor: 'c', ttlMs: 5, cacheScope: 'public', _meta: meta }

/** Results of the model by method, and the official definition each has to match once encoded. */
export const results: Readonly<Record<string, readonly (readonly [definition: string, model: JsonObject])[]>> = {
  ping: [['EmptyResult', {}]],
  'tools/list': [
    [
      'ListToolsResult',
      {
        ...page,
        tools: [
          { name: 'a', inputSchema: { type: 'object' } },
          {
            name: 'b',
            ...described,
            inputSchema: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
            outputSchema: { type: 'object', properties: { y: { type: 'string' } } },
            annotations: {
              title: 'B',
              readOnlyHint: true,
              destructiveHint: false,
              idempotentHint: true,
              openWorldHint: false,
            },
            execution: { taskSupport: 'optional' },
          },
          { name: 'c', inputSchema: { type: 'object' }, outputSchema: { type: 'array', items: { type: 'number' } } },
        ],
      },
    ],
  ],
  'tools/call': [
    ['CallToolResult', { content, isError: false, _meta: meta }],
    ['CallToolResult', { structuredContent: { a: 1 } }],
    ['CallToolResult', { structuredContent: [1, null] }],
    ['CallToolResult', { structuredContent: null, content: [] }],
    ['CallToolResult', {}],
  ],
  'resources/list': [
    [
      'ListResourcesResult',
      {
        ...page,
        resources: [{ uri: 'memo://a', name: 'a', mimeType: 'text/plain', size: 1, annotations, ...described }],
      },
    ],
  ],
  'resources/templates/list': [
    [
      'ListResourceTemplatesResult',
      { resourceTemplates: [{ uriTemplate: 'memo://{a}', name: 'a', annotations, ...described }] },
    ],
  ],
  'resources/read': [['ReadResourceResult', { contents: [resource, { uri: 'memo://b', blob: 'AAAA' }], ttlMs: 0 }]],
  'resources/subscribe': [['EmptyResult', {}]],
  'resources/unsubscribe': [['EmptyResult', { _meta: meta }]],
  'prompts/list': [
    [
      'ListPromptsResult',
      {
        prompts: [
          { name: 'a', ...described, arguments: [{ name: 'x', title: 'X', description: 'd', required: true }] },
        ],
      },
    ],
  ],
  'prompts/get': [
    ['GetPromptResult', { description: 'd', messages: content.map((block) => ({ role: 'user', content: block })) }],
  ],
  'completion/complete': [['CompleteResult', { completion: { values: ['a'], total: 1, hasMore: false } }]],
  'logging/setLevel': [['EmptyResult', {}]],
  'tasks/get': [['GetTaskResult', task]],
  'tasks/list': [['ListTasksResult', { tasks: [task], nextCursor: 'c' }]],
  'tasks/cancel': [['CancelTaskResult', { ...task, status: 'cancelled' }]],
  'tasks/result': [['CallToolResult', { content }]],
}

/** Results that only one way of asking or of waiting has. */
export const handle: JsonObject = { ...task, resultType: 'task' }
export const questions: JsonObject = {
  resultType: 'input_required',
  requestState: 's',
  inputRequests: {
    form: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'm',
        requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
        _meta: meta,
      },
    },
    url: {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' },
    },
    sample: {
      method: 'sampling/createMessage',
      params: { maxTokens: 5, messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
    },
    roots: { method: 'roots/list' },
  },
}

/** Notifications of a server, and their official definitions. */
export const notifications: Readonly<Record<string, readonly [definition: string, params: JsonObject]>> = {
  'notifications/cancelled': ['CancelledNotification', { requestId: 1, reason: 'r' }],
  'notifications/progress': ['ProgressNotification', { progressToken: 'p', progress: 1, total: 2, message: 'm' }],
  'notifications/message': ['LoggingMessageNotification', { level: 'info', logger: 'l', data: { a: 1 } }],
  'notifications/tools/list_changed': ['ToolListChangedNotification', {}],
  'notifications/prompts/list_changed': ['PromptListChangedNotification', {}],
  'notifications/resources/list_changed': ['ResourceListChangedNotification', {}],
  'notifications/resources/updated': ['ResourceUpdatedNotification', { uri: 'memo://a' }],
  'notifications/elicitation/complete': ['ElicitationCompleteNotification', { elicitationId: 'e' }],
  'notifications/tasks/status': ['TaskStatusNotification', task],
  'notifications/subscriptions/acknowledged': [
    'SubscriptionsAcknowledgedNotification',
    { notifications: { toolsListChanged: true } },
  ],
}

/** What a server may ask, by the official definitions of the request and of its answer. */
export const asks: Readonly<Record<string, readonly (readonly [definition: string, params: JsonObject])[]>> = {
  'elicitation/create': [
    [
      'ElicitRequest',
      {
        mode: 'form',
        message: 'm',
        requestedSchema: {
          type: 'object',
          properties: {
            a: { type: 'string', default: 'x' },
            b: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
          },
          required: ['a'],
        },
      },
    ],
    [
      'ElicitRequest',
      {
        mode: 'form',
        message: 'm',
        requestedSchema: {
          type: 'object',
          properties: { a: { type: 'array', items: { type: 'string', enum: ['x'] } } },
        },
      },
    ],
    ['ElicitRequest', { mode: 'url', message: 'm', url: 'https://a.example', elicitationId: 'e' }],
  ],
  'sampling/createMessage': [
    [
      'CreateMessageRequest',
      {
        maxTokens: 5,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a', annotations }] }],
        includeContext: 'none',
        metadata: {},
      },
    ],
    [
      'CreateMessageRequest',
      {
        maxTokens: 5,
        messages: [
          { role: 'user', content: [{ type: 'tool_result', toolUseId: 'i', content, structuredContent: { a: 1 } }] },
        ],
        tools: [{ name: 'a', inputSchema: { type: 'object' } }],
        toolChoice: { mode: 'auto' },
      },
    ],
  ],
  'roots/list': [['ListRootsRequest', {}]],
}
