// In process, text in to text out: Dragoman's in-memory connection beside JSON.parse and JSON.stringify of the same messages.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { childPath } from './child.ts'
import type { Effort } from './effort.ts'
import { call, effect, eras, initializedText, initializeText, isSelfContained, list, requestText } from './messages.ts'
import type { Row } from './rows.ts'
import { median, medianRatio } from './stats.ts'

interface Finding {
  readonly name: string
  /** Microseconds of CPU per message, by round. */
  readonly dragoman: readonly number[]
  readonly json: readonly number[]
}

const questions = [
  { what: 'tools/call, zod, read-only', question: call, tools: 50 },
  { what: 'tools/call, JSON Schema, run once', question: effect, tools: 50 },
  { what: 'tools/list of 1', question: list, tools: 1 },
  { what: 'tools/list of 500', question: list, tools: 500 },
]

export async function benchMemory(
  effort: Effort,
  wanted: (name: string) => boolean,
  found: (rows: readonly Row[]) => void,
): Promise<void> {
  const cases = eras.flatMap((era) =>
    questions.map(({ what, question, tools }) => {
      // The child writes the id between the two halves.
      const [before = '', after = ''] = requestText(era, question)(0).split('"id":0')
      return {
        name: `in process / ${era} / ${what} / CPU`,
        tools,
        opening: isSelfContained(era) ? [] : [initializeText(era)(0), initializedText],
        before: `${before}"id":`,
        after,
      }
    }),
  )
  const chosen = cases.filter(({ name }) => wanted(name))
  if (chosen.length === 0) return
  const { rounds, windowMs } = effort
  const profile = process.env.BENCH_PROFILE === 'memory' ? ['--cpu-prof', '--cpu-prof-dir=.cache/profiles'] : []
  const child = fork(childPath('memory'), [JSON.stringify({ cases: chosen, rounds, windowMs })], { execArgv: profile })
  child.on('message', (message) => found([toRow(message as Finding)]))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`The benchmark in process ended with ${code}`)
}

function toRow({ name, dragoman, json }: Finding): Row {
  return {
    name,
    unit: 'µs/message',
    measured: median(dragoman),
    baseline: median(json),
    ratio: medianRatio(dragoman, json),
    budget: { of: 'ratio', bound: 'at most', value: 2 },
  }
}
