// The least that a server on standard input and output can do.
import { createInterface } from 'node:readline'

const result = { resultType: 'complete', content: [{ type: 'text', text: '3' }] }
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
