import { z } from 'zod'
import { resource, tool } from '../../src/index.ts'
import type { ToolValue } from '../../src/index.ts'

const climb = tool('climb', { description: 'Reports progress', input: z.object({ to: z.int() }) }, ({ to }, ctx) => {
  for (let step = 1; step <= to; step++) ctx.progress(step, to, `step ${step}`)
  ctx.progress(to, to, 'again, so left out')
  return 'there'
})

const log = tool('log', { description: 'Logs at four severities' }, (_, ctx) => {
  for (const level of ['debug', 'info', 'warning', 'error'] as const) ctx.log(level, { said: level }, 'golden')
  return 'logged'
})

const grow = tool('grow', { description: 'Adds a tool and a resource, and takes a prompt away' }, (_, ctx) => {
  ctx.server.add(
    tool('added', { description: 'Was not here before' }, () => 'new'),
    resource('memo://added', { name: 'added' }, () => 'new'),
  )
  ctx.server.remove('prompt', 'unmade')
  return 'grown'
})

const touch = tool(
  'touch',
  { description: 'Changes what a resource holds', input: z.object({ uri: z.string() }) },
  ({ uri }, ctx) => {
    ctx.server.updated(uri)
    return 'touched'
  },
)

/** Tools that take their time or leave something behind. */
export function runningTools(): ToolValue[] {
  const waiting: (() => void)[] = []
  let cancelled = 0
  const wait = tool('wait', { description: 'Waits until released' }, (_, ctx) => {
    const { promise, resolve, reject } = withResolvers()
    waiting.push(() => resolve('released'))
    ctx.signal.addEventListener('abort', () => {
      cancelled++
      reject(new Error('cancelled'))
    })
    return promise
  })
  const release = tool('release', { description: 'Releases what waits' }, () => {
    for (const go of waiting.splice(0)) go()
    return 'done'
  })
  const cancels = tool('cancels', { description: 'How many waits were cancelled' }, () => String(cancelled))
  return [climb, log, grow, touch, wait, release, cancels]
}

function withResolvers(): {
  promise: Promise<string>
  resolve: (value: string) => void
  reject: (error: Error) => void
} {
  let resolve = (_: string): void => {}
  let reject = (_: Error): void => {}
  const promise = new Promise<string>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
