import type { ListenFilter } from '../../model/call.ts'
import type { Change, Notification } from '../../model/notification.ts'
import type { CallContext } from '../../model/served.ts'
import type { Core, Method } from '../core.ts'
import { honourTasks, tellChanged } from '../listen-tasks.ts'
import { mayKnow } from './resources.ts'

const kinds = {
  tools: ['toolsListChanged', 'tools.listChanged', 'notifications/tools/list_changed'],
  prompts: ['promptsListChanged', 'prompts.listChanged', 'notifications/prompts/list_changed'],
  resources: ['resourcesListChanged', 'resources.listChanged', 'notifications/resources/list_changed'],
} as const

/** Characters of all URIs that one request may listen for; a URI is matched against every template, which takes time. */
export const maxListenedLength: number = 128 * 1024

/**
 * Acknowledges the part of the filter that can be honoured, then tells each change that falls under it, until the
 * client goes away or the server ends the stream (specification, `subscriptions/listen`).
 */
export const listen: Method<'subscriptions/listen'> = async (params, context, core) => {
  const { taskIds } = params.notifications
  const tasks = taskIds ? await honourTasks(taskIds, context, core) : undefined
  const honoured = { ...honour(params.notifications, context, core), ...(tasks && { taskIds: [...tasks.keys()] }) }
  const uris = new Set(honoured.resourceSubscriptions)
  return new Promise((resolve) => {
    context.notify({ method: 'notifications/subscriptions/acknowledged', params: { notifications: honoured } })
    const stop = core.onChange((change) => {
      const told = change.visibleTo(context.principal) ? notificationOf(change, honoured, uris, tasks) : undefined
      if (!told) return 0
      context.notify(told)
      return 1
    })
    if (tasks) tellChanged(tasks, context, core)
    const end = (): void => {
      stop()
      resolve({})
    }
    if (context.signal.aborted) end()
    else context.signal.addEventListener('abort', end, { once: true })
  })
}

function honour(asked: ListenFilter, context: CallContext, core: Core): ListenFilter {
  const lists = Object.values(kinds).filter(([key, feature]) => asked[key] === true && context.features.has(feature))
  const uris = context.features.has('resources.subscribe') ? (asked.resourceSubscriptions ?? []) : []
  const known = affordable(new Set(uris)).filter((uri) => mayKnow(uri, context.principal, core))
  return {
    ...Object.fromEntries(lists.map(([key]) => [key, true])),
    ...(known.length > 0 && { resourceSubscriptions: known }),
  }
}

/** The first of the URIs, as far as they are looked for in templates in one go. */
function affordable(uris: Iterable<string>): readonly string[] {
  let left = maxListenedLength
  return [...uris].filter((uri) => (left -= uri.length) >= 0)
}

function notificationOf(
  change: Change,
  honoured: ListenFilter,
  uris: ReadonlySet<string>,
  tasks: ReadonlyMap<string, number> | undefined,
): Notification | undefined {
  if (change.kind === 'task') return tasks?.has(change.taskId) ? change.toListener : undefined
  if (change.kind === 'resource') {
    return uris.has(change.uri) ? { method: 'notifications/resources/updated', params: { uri: change.uri } } : undefined
  }
  const [key, , method] = kinds[change.kind]
  return honoured[key] === true ? { method } : undefined
}
