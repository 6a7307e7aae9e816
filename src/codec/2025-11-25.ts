import { extend, lazy } from './define.ts'
import { isFormOrUrl } from './elicitation.ts'
import { anything, many, must, object, one, oneOrMany, quiet, taskOptions, text } from './fields.ts'
import { handleFromWire, handleToWire, taskFromWire, taskToWire, tasksFromWire } from './tasks.ts'
import { toolResult } from './tool-result.ts'
import { revision20250618 } from './2025-06-18.ts'
import type { RequestDefinition, Revision } from './define.ts'
import type { Fields } from './fields.ts'

const icons: Fields = { icons: many('Icon') }
const meta: Fields = { _meta: anything }

/** Both sides may run tasks for each other; `side` begins the feature that says so. */
const taskRequests = (side: 'tasks' | 'client.tasks', outcome: string): Record<string, RequestDefinition> => ({
  'tasks/get': { params: 'TaskParams', result: 'Task', needs: side },
  'tasks/result': { params: 'TaskParams', result: outcome, needs: side },
  'tasks/list': { params: 'ListParams', result: 'ListTasksResult', needs: `${side}.list` },
  'tasks/cancel': { params: 'TaskParams', result: 'Task', needs: `${side}.cancel` },
})

/** What 2025-11-25 changed: tasks, URL elicitation, richer forms, tools in sampling, icons, resumable polling. */
export const revision20251125: () => Revision = lazy(() =>
  extend(revision20250618(), {
    revision: '2025-11-25',
    http: { priming: true },
    features: {
      gains: {
        revision: [
          'error.withoutId',
          'icons',
          'implementation.description',
          'schema.2020-12',
          'tool.icons',
          'tool.execution',
          'tool.names',
          'invalidArguments.asResult',
          'form.defaults',
          'form.titles',
          'form.multiSelect',
        ],
        server: ['tasks', 'tasks.list', 'tasks.cancel', 'tasks.requests.tools.call'],
        client: [
          'sampling.context',
          'sampling.tools',
          'elicitation.form',
          'elicitation.url',
          'client.tasks',
          'client.tasks.list',
          'client.tasks.cancel',
          'client.tasks.requests.sampling.createMessage',
          'client.tasks.requests.elicitation.create',
        ],
        http: ['http.priming', 'http.originStatus', 'authorization.stepUp'],
        with: {
          'url.id': 'elicitation.url',
          'url.complete': 'elicitation.url',
          'url.requiredError': 'elicitation.url',
        },
      },
    },
    requests: { gains: taskRequests('tasks', 'CallToolResult') },
    asks: {
      gains: {
        'sampling/createMessage': { params: 'SampleParams', result: 'SampleResult', needs: 'sampling' },
        'elicitation/create': {
          params: 'ElicitParams',
          result: 'ElicitResult',
          needs: 'elicitation',
          valid: isFormOrUrl,
        },
        ...taskRequests('client.tasks', 'EmptyResult'),
      },
    },
    notifications: {
      gains: {
        'notifications/tasks/status': 'Task',
        'notifications/elicitation/complete': 'ElicitationCompleteParams',
      },
    },
    clientNotifications: { gains: { 'notifications/tasks/status': 'Task' } },
    nouns: {
      gains: {
        ClientCapabilities: { tasks: anything },
        ServerCapabilities: { tasks: anything },
        ElicitationCapability: { form: anything, url: anything },
        SamplingCapability: { context: anything, tools: anything },
        Implementation: { ...icons, description: anything, websiteUrl: anything },
        Icon: { src: anything, mimeType: anything, sizes: anything, theme: anything },
        Tool: { ...icons, execution: anything },
        Resource: icons,
        ResourceTemplate: icons,
        ResourceLink: icons,
        Prompt: icons,
        CallToolParams: { task: taskOptions },
        CallToolResult: { task: one('Task') },
        SampleParams: { tools: many('Tool'), toolChoice: object, task: taskOptions },
        SamplingMessage: { content: oneOrMany('SamplingContent'), ...meta },
        SampleResult: { content: oneOrMany('SamplingContent') },
        ToolUseContent: { type: anything, id: anything, name: anything, input: anything, ...meta },
        ToolResultContent: {
          type: anything,
          toolUseId: anything,
          content: many('Content'),
          structuredContent: anything,
          isError: anything,
          ...meta,
        },
        ElicitParams: {
          mode: quiet(text),
          requestedSchema: object,
          url: text,
          elicitationId: quiet(text),
          task: taskOptions,
        },
        ElicitationCompleteParams: { elicitationId: anything, ...meta },
        TaskParams: { taskId: must(text), ...meta },
        ListTasksResult: { tasks: many('Task'), nextCursor: anything, ...meta },
        Task: {
          taskId: anything,
          status: anything,
          statusMessage: anything,
          createdAt: anything,
          lastUpdatedAt: anything,
          ttl: anything,
          pollInterval: anything,
          ...meta,
        },
      },
    },
    unions: { gains: { SamplingContent: { tool_use: 'ToolUseContent', tool_result: 'ToolResultContent' } } },
    encoders: {
      gains: {
        CallToolResult: handleToWire(toolResult('object')),
        ToolResultContent: toolResult('object'),
        Task: taskToWire,
      },
      drops: ['ElicitParams', 'SamplingMessage', 'SampleResult'],
    },
    decoders: { gains: { CallToolResult: handleFromWire, Task: taskFromWire, ListTasksResult: tasksFromWire } },
    refusals: { gains: { UrlElicitationRequired: { code: -32042, status: 200 } } },
  }),
)
