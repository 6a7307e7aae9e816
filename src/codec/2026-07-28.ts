import { extend, lazy } from './define.ts'
import { anything, asks, listenFilter, mark, must, objectMap, one, quiet, sealedState, text } from './fields.ts'
import { detailedTaskToWire, tasksExtension } from './tasks.ts'
import { toolResult } from './tool-result.ts'
import { revision20251125 } from './2025-11-25.ts'
import type { RequestDefinition, Revision } from './define.ts'
import type { Fields } from './fields.ts'

const hints: Fields = { ttlMs: mark, cacheScope: mark }
const retry: Fields = { inputResponses: objectMap, requestState: sealedState }
const ofTasks = (params: string, result: string): RequestDefinition => ({ params, result, extension: tasksExtension })

/** What 2026-07-28 changed: requests that stand alone, questions by results, listening, cache hints; tasks left the core. */
export const revision20260728: () => Revision = lazy(() =>
  extend(revision20251125(), {
    revision: '2026-07-28',
    lifecycle: 'request',
    asking: 'rounds',
    resultType: true,
    withheldExtensions: [],
    introduction: { params: 'EmptyParams', result: 'Introduction' },
    cacheable: [
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
    ],
    mirrored: {
      'tools/call': 'name',
      'prompts/get': 'name',
      'resources/read': 'uri',
      'tasks/get': 'taskId',
      'tasks/update': 'taskId',
      'tasks/cancel': 'taskId',
    },
    http: { versionHeader: 'always', sessions: false, resumable: false, priming: false, disconnectCancels: true },
    features: {
      gains: {
        revision: [
          'discover',
          'inputRequired',
          'resultType',
          'requestMeta',
          'trace',
          'schema.anyKeyword',
          'pagination.emptyCursor',
          'cacheHints',
          'listen',
          'tasks.extension',
          'tool.outputSchema.any',
          'structuredContent.any',
          'lists.stable',
        ],
        http: [
          'http.versionHeader.always',
          'http.routingHeaders',
          'http.disconnectCancels',
          'tool.headers',
          'authorization.issuer',
        ],
        with: { 'logLevel.request': 'logging' },
      },
      drops: [
        'handshake',
        'ping',
        'ask.live',
        'ids.perSession',
        'cancel.byServer',
        'progress.byClient',
        'resource.notFoundCode',
        'logLevel.session',
        'roots.listChanged',
        'tool.execution',
        'url.id',
        'url.complete',
        'url.requiredError',
        'tasks',
        'tasks.list',
        'tasks.cancel',
        'tasks.requests.tools.call',
        'client.tasks',
        'client.tasks.list',
        'client.tasks.cancel',
        'client.tasks.requests.sampling.createMessage',
        'client.tasks.requests.elicitation.create',
        'sse',
        'http.sessions',
        'http.resumable',
        'http.priming',
      ],
    },
    requests: {
      gains: {
        'subscriptions/listen': { params: 'ListenParams', result: 'EmptyResult' },
        'tasks/get': ofTasks('TaskParams', 'Task'),
        'tasks/update': ofTasks('TaskUpdateParams', 'EmptyResult'),
        'tasks/cancel': ofTasks('TaskParams', 'EmptyResult'),
      },
      drops: ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'tasks/list', 'tasks/result'],
    },
    asks: { drops: ['ping', 'tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'] },
    notifications: {
      gains: { 'notifications/subscriptions/acknowledged': 'AcknowledgedParams', 'notifications/tasks': 'Task' },
      drops: ['notifications/elicitation/complete', 'notifications/tasks/status'],
    },
    clientNotifications: {
      drops: [
        'notifications/initialized',
        'notifications/progress',
        'notifications/roots/list_changed',
        'notifications/tasks/status',
      ],
    },
    nouns: {
      gains: {
        Introduction: { supportedVersions: mark, ...hints },
        ListToolsResult: hints,
        ListPromptsResult: hints,
        ListResourcesResult: hints,
        ListResourceTemplatesResult: hints,
        ReadResourceResult: hints,
        CallToolParams: retry,
        GetPromptParams: retry,
        ReadResourceParams: retry,
        InputRequiredResult: { resultType: anything, inputRequests: asks, requestState: anything, _meta: anything },
        ListenParams: { notifications: must(listenFilter), _meta: anything },
        AcknowledgedParams: { notifications: anything, _meta: anything },
        Task: {
          ttlMs: anything,
          pollIntervalMs: anything,
          inputRequests: quiet(asks),
          result: quiet(one('CallToolResult')),
          error: quiet(anything),
        },
        TaskUpdateParams: { taskId: must(text), inputResponses: must(objectMap), _meta: anything },
      },
      drops: {
        Introduction: ['protocolVersion', 'serverInfo'],
        ClientCapabilities: ['tasks'],
        ServerCapabilities: ['tasks'],
        RootsCapability: ['listChanged'],
        Tool: ['execution'],
        CallToolParams: ['task'],
        CallToolResult: ['task'],
        SampleParams: ['task', '_meta'],
        ElicitParams: ['task', 'elicitationId', '_meta'],
        ElicitResult: ['_meta'],
        ListRootsResult: ['_meta'],
        Task: ['ttl', 'pollInterval'],
      },
    },
    encoders: {
      gains: { CallToolResult: toolResult('any'), ToolResultContent: toolResult('any'), Task: detailedTaskToWire },
      drops: ['Tool', 'ClientCapabilities', 'ServerCapabilities'],
    },
    decoders: { drops: ['CallToolResult', 'Task', 'ListTasksResult'] },
    refusals: { drops: ['UrlElicitationRequired'] },
  }),
)
