import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer, form, memoryStore, Refusal, result, tool, UrlElicitationRequired } from '../../src/index.ts'
import type { Server, Store } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import type { Response, TestClient, TestClientOptions } from '../../src/testing.ts'

export const legacy = '2025-11-25'
export const modern = '2026-07-28'
export const extension = 'io.modelcontextprotocol/tasks'
export const related = 'io.modelcontextprotocol/related-task'
export const withTasks = { elicitation: { form: {}, url: {} }, extensions: { [extension]: {} } }
export const ada = { id: 'ada', scopes: new Set<string>() }
export const bob = { id: 'bob', scopes: new Set<string>() }

const key = new Uint8Array(32).fill(5)
export const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })
export const yes = { action: 'accept', content: { sure: true } }

/** What the tools of {@link workshop} did, and what lets them go on. */
export interface Bench {
  readonly server: Server
  readonly done: string[]
  /** Lets every `held` job end. */
  release(): void
}

type Options = Partial<Parameters<typeof createServer>[0]>

/** A server with a tool of every kind of job. */
export function workshop(options: Options = {}): Bench {
  const done: string[] = []
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const held = async (signal: AbortSignal): Promise<string> => {
    done.push('began')
    await Promise.race([gate, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))])
    done.push(signal.aborted ? 'aborted' : 'ended')
    return 'held'
  }
  const server = createServer({
    name: 'workshop',
    version: '1',
    keys: [key],
    ...options,
    tools: [
      tool('plain', {}, () => 'plain'),
      tool('held', { task: { after: 10 } }, (_, { signal }) => held(signal)),
      tool('must', { task: 'always' }, (_, { signal }) => held(signal)),
      tool('later', { task: { after: 60_000 } }, (_, { signal }) => held(signal)),
      tool('pays', { task: 'always' }, (_, ctx) => {
        if (ctx.inputResponses?.['pay']) return 'paid'
        throw new UrlElicitationRequired([{ elicitationId: 'pay', url: 'https://pay.example', message: 'Pay' }])
      }),
      tool('quick', { task: { after: 5000 } }, () => 'quick'),
      tool('sum', { task: 'always', output: { type: 'object', properties: { n: { type: 'number' } } } }, () => ({
        n: 3,
      })),
      tool('no', { task: 'always' }, () => result({ content: [{ type: 'text', text: 'no' }], isError: true })),
      tool('broken', { task: 'always' }, () => {
        throw new Refusal('HandlerFailed', { message: 'it broke' })
      }),
      tool('asks', { task: 'always' }, async (_, ctx) => {
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        return `answered ${answer.action}`
      }),
      tool('asks_late', { task: 'always' }, async (_, ctx) => {
        await delay(30)
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        return `late ${answer.action}`
      }),
      tool('asks_twice', { task: 'always' }, async (_, ctx) => {
        const both = await Promise.all([ctx.elicit('one', sure, 'One?'), ctx.elicit('two', sure, 'Two?')])
        return both.map(({ action }) => action).join()
      }),
      tool('asks_first', { task: { after: 20 } }, async (_, ctx) => {
        const answer = await ctx.elicit('sure', sure, 'Sure?')
        await delay(60)
        const again = await ctx.elicit('still', sure, 'Still?')
        return `${answer.action} ${again.action}`
      }),
      tool('reports', { task: 'always' }, async (_, ctx) => {
        ctx.progress(1, 2)
        ctx.log('info', 'half')
        ctx.progress(2, 2)
        return 'reported'
      }),
    ],
  })
  return { server, done, release: () => release() }
}

/** A client that may have tasks, in whichever way its revision has them. */
export function clientOf(server: Server, options: TestClientOptions = {}): Promise<TestClient> {
  return testClient(server, { capabilities: withTasks, ...options })
}

/** The result of a response, which must be one. */
export function ok(response: Response): Record<string, unknown> {
  assert.ok(response.result, JSON.stringify(response.error))
  return response.result
}

/** Asks for a task until `holds` of it. */
export async function until(
  client: TestClient,
  taskId: unknown,
  holds: (task: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  for (let turn = 0; turn < 200; turn++) {
    const task = ok(await client.request('tasks/get', { taskId: String(taskId) }))
    if (holds(task)) return task
    await delay(10)
  }
  throw new Error('the task never came so far')
}

/** A store that can be cut off for good, as for a process that is killed: what it is asked after that never answers. */
export function mortal(store: Store = memoryStore()): { readonly store: Store; die(): void } {
  let dead = false
  const mortalStore = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => (dead ? new Promise(() => {}) : Reflect.apply(member, target, args))
    },
  })
  return { store: mortalStore, die: () => (dead = true) }
}
