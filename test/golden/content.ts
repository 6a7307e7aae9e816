import { z } from 'zod'
import { result, tool, ToolError } from '../../src/index.ts'
import type { ContentBlock, Json, ToolValue } from '../../src/index.ts'

const add = tool(
  'add',
  {
    title: 'Add two integers',
    description: 'Adds a and b',
    icons: [{ src: 'data:image/png;base64,iVBORw0KGgo=', mimeType: 'image/png', sizes: ['any'], theme: 'dark' }],
    annotations: { title: 'Adder', readOnlyHint: true, openWorldHint: false },
    input: z.object({ a: z.int(), b: z.int() }),
    output: z.object({ sum: z.int() }),
    _meta: { 'golden.example/since': 3 },
  },
  ({ a, b }) => ({ sum: a + b }),
)

const measure = tool(
  'measure',
  {
    description: 'How long a text is',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    output: { type: 'integer' },
  },
  (args) => String((args as { text?: unknown }).text).length,
)

const kinds = tool('kinds', { description: 'One block of every kind of content' }, (): ContentBlock[] => [
  {
    type: 'text',
    text: 'words',
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-08-01T12:00:00Z' },
    _meta: { 'golden.example/n': 1 },
  },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', annotations: { priority: 1 } },
  {
    type: 'resource',
    resource: { uri: 'memo://hello', mimeType: 'text/plain', text: 'hello', _meta: { 'golden.example/n': 2 } },
  },
  { type: 'resource', resource: { uri: 'memo://bytes', mimeType: 'application/octet-stream', blob: 'AAEC/w==' } },
  {
    type: 'resource_link',
    uri: 'memo://hello',
    name: 'hello',
    title: 'A greeting',
    description: 'Says hello',
    mimeType: 'text/plain',
    size: 5,
    icons: [{ src: 'https://golden.example/memo.png' }],
    annotations: { audience: ['assistant'] },
  },
])

const future = tool('future', { description: 'Says what no revision knows yet' }, () => {
  // Nobody has published such a kind or such a member, so no type has it.
  const blocks = [
    { type: 'hologram', depth: 3 },
    { type: 'text', text: 'words', smell: 'of rain' },
  ] as unknown as ContentBlock[]
  return result({ content: blocks, _meta: { 'golden.example/later': true } })
})

const copies = tool('copies', { description: 'Structured content beside words of its own' }, () =>
  result({ content: [{ type: 'text', text: 'two of them' }], structuredContent: { count: 2 } }),
)

const fail = tool('fail', { description: 'Says no' }, () => {
  throw new ToolError('refused by the tool')
})

const boom = tool('boom', { description: 'Breaks' }, () => {
  throw new Error('widget 7 is broken')
})

const cyclic = tool('cyclic', { description: 'Returns what no JSON can say' }, () => {
  const knot: Record<string, Json> = {}
  knot.self = knot
  return result({ structuredContent: knot })
})

const wrong = tool('wrong', { description: 'Breaks its own promise', output: z.object({ sum: z.int() }) }, () =>
  result({ structuredContent: { sum: 'many' } }),
)

const inherited = tool(
  'toString',
  { description: 'Has a name that every object inherits' },
  () => 'a tool called toString',
)

const secret = tool('secret', { description: 'For staff', scopes: ['staff'] }, () => 'seen')

/** Tools that answer at once. */
export const contentTools = (): ToolValue[] => [
  add,
  measure,
  kinds,
  future,
  copies,
  fail,
  boom,
  cyclic,
  wrong,
  inherited,
  secret,
]
