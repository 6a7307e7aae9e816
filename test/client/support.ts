import { connect, type Client, type ClientOptions } from '../../src/client.ts'
import { memoryVerdicts } from '../../src/client/verdicts.ts'
import { memoryListCache } from '../../src/client/list-cache.ts'
import { result, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import type { ConnectOptions } from '../../src/memory.ts'
import { serverOf } from '../server/support.ts'
import { memoryTarget, type MemoryTarget } from './memory-link.ts'

export { revisions, eras } from '../server/support.ts'
export const modern = '2026-07-28'
export const legacy = '2025-11-25'

/** A tool that adds, and says so in every way. */
export const add = tool(
  'add',
  {
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  },
  ({ a, b }) => ({ sum: Number(a) + Number(b) }),
)

/** A tool whose handler the test gives. */
export function toolOf(
  name: string,
  run: (ctx: Parameters<Parameters<typeof tool>[2]>[1]) => unknown,
  annotations = {},
): ReturnType<typeof tool> {
  return tool(name, { annotations }, async (_args, ctx) => {
    const given = await run(ctx)
    return typeof given === 'string'
      ? given
      : result({ content: [{ type: 'text', text: JSON.stringify(given ?? null) }] })
  })
}

/** A client of `server` in memory, with nothing remembered from other tests and no long waits; closed by `await using`. */
export async function connected(
  server: Server = serverOf({ tools: [add] }),
  { serve = {}, ...options }: ClientOptions & { readonly serve?: ConnectOptions } = {},
): Promise<{ readonly client: Client; readonly target: MemoryTarget; [Symbol.asyncDispose](): Promise<void> }> {
  const target = memoryTarget(server, serve)
  const client = await connect(target, quick(options))
  return { client, target, [Symbol.asyncDispose]: () => client.close() }
}

/** Options that keep a test apart from others, and quick. */
export function quick(options: ClientOptions = {}): ClientOptions {
  return {
    verdicts: memoryVerdicts(),
    cache: memoryListCache(),
    silenceMs: 50,
    retry: { delayMs: 1 },
    debounceMs: 5,
    ...options,
  }
}
