// Dragoman on standard input and output with one tool. Its schema is plain, so that no schema library is loaded.
import { createServer, serveStdio, tool } from '../../dist/index.js'

const input = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
}
const add = tool('add', { input }, ({ a, b }) => String(a + b))
await serveStdio(createServer({ name: 'bench', version: '1.0.0', tools: [add] }))
