// The server that every runtime serves: a module with a `fetch`, as workerd, Bun and Deno take it.
import engine from 'typebox/schema'
import { createServer, fetchHandler, form, resource, tool } from '../../src/index.ts'
import type { FetchHandler } from '../../src/index.ts'
import { useJsonSchemaEngine } from '../../src/schema.ts'

useJsonSchemaEngine(engine)

const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })

/** Builds the handler. */
export function build(): FetchHandler {
  const server = createServer({
    name: 'runtimes',
    version: '1',
    keys: [new Uint8Array(32).fill(5)],
    tools: [
      tool(
        'add',
        {
          input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
        },
        ({ a, b }) => String(Number(a) + Number(b)),
      ),
      tool('steps', {}, async (_args, ctx) => {
        for (let step = 1; step <= 3; step++) {
          ctx.progress(step, 3)
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        return 'walked'
      }),
      tool('ask', {}, async (_args, ctx) => (await ctx.elicit('sure', sure, 'Sure?')).action),
      tool('break', {}, () => {
        throw new Error('broken on purpose')
      }),
    ],
    resources: [resource('memo://hello', { name: 'hello' }, () => 'grüße')],
  })
  return fetchHandler(server)
}

let handler: FetchHandler | undefined

export default {
  // workerd gives out no randomness before the first request.
  fetch: (request: Request): Promise<Response> => (handler ??= build())(request),
}
