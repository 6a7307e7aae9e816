// The tools that every server of the benchmarks registers: half of them with zod schemas and said to be read-only, half
// with plain JSON Schema and not: those are taken to have an effect, which Dragoman lets a call have once.
import { z } from 'zod'

export const serverInfo = { name: 'bench', version: '1.0.0' }

const addInput = {
  type: 'object',
  properties: {
    a: { type: 'integer', description: 'The first summand' },
    b: { type: 'integer', description: 'The second summand' },
  },
  required: ['a', 'b'],
}
const addOutput = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] }

/** @param {number} count @returns `echo-0`, `add-1`, `echo-2` …; each with schemas of its own, as in a server that grew. */
export function definitions(count) {
  return Array.from({ length: count }, (_, index) => (index % 2 === 0 ? echo(index) : add(index)))
}

function echo(index) {
  return {
    name: `echo-${index}`,
    description: `Gives back the text it is given (${index})`,
    zod: true,
    annotations: { readOnlyHint: true },
    input: z.object({
      text: z.string().describe('What to give back'),
      times: z.number().int().optional().describe('How often; once by default'),
    }),
    output: undefined,
    run: ({ text, times = 1 }) => text.repeat(times),
  }
}

function add(index) {
  return {
    name: `add-${index}`,
    description: `Adds two integers (${index})`,
    zod: false,
    annotations: undefined,
    input: structuredClone(addInput),
    output: structuredClone(addOutput),
    run: ({ a, b }) => ({ sum: a + b }),
  }
}
