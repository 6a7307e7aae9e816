// A process that works on tasks, to be killed: serves one job over stdio, with its tasks in an SQLite file.
//   node --import tsx test/tasks/worker.ts FILE LOG
import { appendFileSync } from 'node:fs'
import { createServer, form, serveStdio, tool, type Server } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'

const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })

/** A server whose tasks are in `file`, and whose job leaves a line in `log` for each thing it does. */
export function jobServer(file: string, log: string): Server {
  return createServer({
    name: 'worker',
    version: '1',
    keys: [new Uint8Array(32).fill(9)],
    store: sqlite(file),
    tasks: { leaseMs: 300 },
    tools: [
      tool('job', { task: 'always', rerun: 'safe' }, async (_, ctx) => {
        await ctx.step('first', () => {
          appendFileSync(log, 'first\n')
          return 1
        })
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        await ctx.step('second', () => {
          appendFileSync(log, `second ${answer.action}\n`)
          return 2
        })
        return 'done'
      }),
    ],
  })
}

const [file, log] = process.argv.slice(2)
if (import.meta.url === `file://${process.argv[1]}` && file !== undefined && log !== undefined) {
  await serveStdio(jobServer(file, log))
}
