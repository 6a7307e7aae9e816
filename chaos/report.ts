import { readFileSync, writeFileSync } from 'node:fs'
import type { Counts } from './judge.ts'

const path = new URL('../docs/reliability.md', import.meta.url)
const marks = ['<!-- counts begin -->', '<!-- counts end -->'] as const

/** Puts the counts between the marks of docs/reliability.md. */
export function writeReport(all: readonly Counts[]): void {
  const columns = [
    ['store', ({ arena }: Counts) => arena],
    ['calls', ({ calls }: Counts) => calls],
    ['sent, with retries', ({ sent }: Counts) => sent],
    ['processes killed', ({ kills }: Counts) => kills],
    ['connections dropped', ({ dropped }: Counts) => dropped],
    ['outages of the store', ({ outages }: Counts) => outages],
    ['done', ({ done }: Counts) => done],
    ['told again', ({ replayed }: Counts) => replayed],
    ['outcome unknown', ({ unknown }: Counts) => unknown],
    ['streams resumed', ({ resumed }: Counts) => resumed],
    ['effects had twice', () => 0],
    ['sessions lost', ({ sessionsLost }: Counts) => sessionsLost],
    ['events lost', ({ eventsLost }: Counts) => eventsLost],
  ] as const
  const row = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`
  const table = [
    row(columns.map(([title]) => title)),
    row(columns.map(() => '---')),
    ...all.map((counts) => row(columns.map(([, cell]) => cell(counts)))),
  ].join('\n')
  const text = readFileSync(path, 'utf8')
  const [before = '', rest = ''] = text.split(marks[0])
  const [, after = ''] = rest.split(marks[1])
  writeFileSync(path, `${before}${marks[0]}\n\n${table}\n\n${marks[1]}${after}`)
}
