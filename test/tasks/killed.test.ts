// A process that is killed loses no task: another on the same SQLite file finishes it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { clientOf, modern, ok, until, withTasks, yes } from './support.ts'
import { jobServer } from './worker.ts'

test('a task whose process is killed is finished by the next, its effects once', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'killed-'))
  const file = join(folder, 'tasks.db')
  const log = join(folder, 'log')
  const child = spawn(process.execPath, ['--import', 'tsx', resolve('test/tasks/worker.ts'), file, log], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': modern,
        'io.modelcontextprotocol/clientCapabilities': withTasks,
        'io.modelcontextprotocol/clientInfo': { name: 'killer', version: '1' },
      }
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })}\n`)
      const { value } = await lines.next()
      return ok(JSON.parse(String(value)) as Parameters<typeof ok>[0])
    }
    const { taskId } = await ask('tools/call', { name: 'job' })
    let task: Record<string, unknown> = {}
    while (task['status'] !== 'input_required') task = await ask('tasks/get', { taskId })
    child.kill('SIGKILL')
    await delay(400)

    const client = await clientOf(jobServer(file, log))
    await until(client, taskId, ({ status }) => status === 'input_required')
    ok(await client.request('tasks/update', { taskId: String(taskId), inputResponses: { sure: yes } }))
    const { result } = await until(client, taskId, ({ status }) => status === 'completed')
    assert.deepEqual(result, { content: [{ type: 'text', text: 'done' }] })
    assert.equal(readFileSync(log, 'utf8'), 'first\nsecond accept\n')
    await client.close()
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
})
