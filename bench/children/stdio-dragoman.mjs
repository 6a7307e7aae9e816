// Dragoman on standard input and output with one tool, which takes as many arguments as the first argument says: none,
// or two by plain JSON Schema, so that no schema library is loaded.
import { createServer, serveStdio, tool } from '../../dist/index.js'

const input = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
}
const config = process.argv[2] === '0' ? {} : { input }
const add = tool('add', config, ({ a = 1, b = 2 }) => String(a + b))
await serveStdio(createServer({ name: 'bench', version: '1.0.0', tools: [add] }))
