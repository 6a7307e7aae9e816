import type { Call, Operation } from '../model/call.ts'
import { compose } from '../model/compose.ts'
import type { JsonObject } from '../model/json.ts'
import type { CallContext } from '../model/served.ts'
import type { Core, Method } from './core.ts'
import { complete } from './methods/completion.ts'
import { listen } from './methods/listen.ts'
import { setLogLevel } from './methods/logging.ts'
import { getPrompt, listPrompts } from './methods/prompts.ts'
import {
  listResources,
  listResourceTemplates,
  readResource,
  subscribeResource,
  unsubscribeResource,
} from './methods/resources.ts'
import { cancelTask, getTask, listTasks, taskResult, updateTask } from './methods/tasks.ts'
import { callTool, listTools } from './methods/tools.ts'
import { groups, layersOf, type Middleware } from './middleware.ts'

const methods: { readonly [O in Operation]: Method<O> } = {
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listResourceTemplates,
  'resources/read': readResource,
  'resources/subscribe': subscribeResource,
  'resources/unsubscribe': unsubscribeResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': complete,
  'logging/setLevel': setLogLevel,
  'tasks/get': getTask,
  'tasks/result': taskResult,
  'tasks/list': listTasks,
  'tasks/cancel': cancelTask,
  'tasks/update': updateTask,
  'subscriptions/listen': listen,
}

/** An operation with its layers around it. */
export type Answer = (call: Call, context: CallContext) => Promise<JsonObject>

/** Puts the layers of `middleware` around every operation. Done once per set of middleware. */
export function composeOperations(middleware: readonly Middleware[], core: Core): ReadonlyMap<string, Answer> {
  // `Object.keys` of a table of all operations are the operations.
  const names = Object.keys(methods) as readonly Operation[]
  return new Map(names.map((name) => [name, compose(layersOf(middleware, groups[name]), answerOf(name, core))]))
}

function answerOf(name: Operation, core: Core): Answer {
  // The codec has checked that `params` have the shape that the method's name promises, so one signature fits them all.
  const answer = methods[name] as (
    params: JsonObject,
    context: CallContext,
    core: Core,
    call: Call,
  ) => Promise<JsonObject>
  return (call, context) => answer(call.params, context, core, call)
}
