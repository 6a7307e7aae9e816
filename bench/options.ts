// What `npm run bench` can be told.
import { parseArgs } from 'node:util'

export interface Options {
  readonly quick: boolean
  readonly only: readonly string[]
  readonly json: string | undefined
  /** How many times worse than its budget a figure may be; `undefined`: nothing fails. */
  readonly gate: number | undefined
}

/** @throws for an option that is none, and for slack below 1 */
export function readOptions(args: readonly string[]): Options {
  // `--gate` alone means the usual slack.
  const spelt = args.map((arg, at) => (arg === '--gate' && !/^\d/.test(args[at + 1] ?? '') ? '--gate=2' : arg))
  const { values } = parseArgs({
    args: spelt,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      gate: { type: 'string' },
    },
  })
  const gate = values.gate === undefined ? undefined : Number(values.gate)
  if (gate !== undefined && !(gate >= 1)) throw new Error('--gate takes a number of 1 or more')
  return { quick: values.quick, only: values.only, json: values.json, gate }
}
