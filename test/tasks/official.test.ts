// Everything that is said of tasks on 2025-11-25, held against the official schema of that revision.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { schemaOrSkip } from '../codec/official-schema.ts'
import { ada, clientOf, legacy, ok, until, workshop, yes } from './support.ts'

test('results, notifications and questions about tasks are as the official schema has them', async (context) => {
  const schema = schemaOrSkip(legacy, context)
  if (!schema) return
  const fits = (definition: string, value: unknown): void =>
    assert.deepEqual(schema.faults(definition, value), [], JSON.stringify(value))
  const { server } = workshop()
  const client = await clientOf(server, {
    revision: legacy,
    capabilities: { elicitation: { form: {} } },
    principal: ada,
    answer: () => yes,
  })
  fits('InitializeResult', client.introduction)
  fits('ListToolsResult', ok(await client.request('tools/list')))

  for (const name of ['sum', 'no', 'asks', 'reports']) {
    const created = ok(await client.request('tools/call', { name, task: { ttl: 5000 } }, { progressToken: name }))
    fits('CreateTaskResult', created)
    const { taskId } = created['task'] as { taskId: string }
    fits('GetTaskResult', ok(await client.request('tasks/get', { taskId })))
    const result = ok(await client.request('tasks/result', { taskId }))
    fits('GetTaskPayloadResult', result)
    fits('CallToolResult', result)
    await until(client, taskId, ({ status }) => status === 'completed' || status === 'failed')
    fits('GetTaskResult', ok(await client.request('tasks/get', { taskId })))
  }
  const { task } = ok(await client.request('tools/call', { name: 'held', task: {} }))
  fits('CancelTaskResult', ok(await client.request('tasks/cancel', { taskId: (task as { taskId: string }).taskId })))
  fits('ListTasksResult', ok(await client.request('tasks/list')))
  await delay(10)

  const heard = new Map(client.heard.map((message) => [message.method, message]))
  fits('TaskStatusNotification', heard.get('notifications/tasks/status'))
  fits('ProgressNotification', heard.get('notifications/progress'))
  fits('LoggingMessageNotification', heard.get('notifications/message'))
  fits('ElicitRequest', heard.get('elicitation/create'))
})
