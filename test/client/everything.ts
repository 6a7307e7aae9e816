import { prompt, resource, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { serverOf, sure } from '../server/support.ts'
import { add } from './support.ts'

const asks = tool('asks', {}, async (_args, ctx) => JSON.stringify(await ctx.elicit('sure', sure, 'Sure?')))
const climbs = tool('climbs', {}, (_args, ctx) => {
  for (let progress = 1; progress <= 3; progress++) ctx.progress(progress, 3)
  return 'top'
})
const mirrors = tool(
  'mirrors',
  {
    input: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, n: { type: 'integer', 'x-mcp-header': 'N' } },
    },
  },
  ({ region }, ctx) => JSON.stringify([region ?? null, ctx.header('mcp-param-region') ?? null]),
)

/** A server with one of each, for clients on every transport. */
export function everything(options: Parameters<typeof serverOf>[0] = {}): Server {
  return serverOf({
    ...options,
    tools: [add, asks, climbs, mirrors],
    resources: [resource('memo://a', { name: 'a' }, () => 'a')],
    prompts: [
      prompt(
        'greet',
        { arguments: { name: { required: true, complete: () => ['Ada', 'Ben'] } } },
        ({ name }) => `Hello ${name}`,
      ),
    ],
  })
}
