// What starting costs: importing an entry, and the way from spawning a process to its first answer on stdio.
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { childPath } from './child.ts'
import type { Effort } from './effort.ts'
import { call, requestText, resultOf } from './messages.ts'
import type { Row } from './rows.ts'
import { median, medianRatio, rotated } from './stats.ts'

const run = promisify(execFile)
const subjects = ['dragoman', 'bare', 'official'] as const
type Subject = (typeof subjects)[number]

const href = (path: string): string => new URL(path, import.meta.url).href
const bare = href('children/empty.mjs')
const entries: Readonly<Record<'server' | 'client', Readonly<Record<Subject, string>>>> = {
  server: {
    dragoman: href('../dist/index.js'),
    bare,
    official: href('node_modules/@modelcontextprotocol/server/dist/index.mjs'),
  },
  client: {
    dragoman: href('../dist/client.js'),
    bare,
    official: href('../node_modules/@modelcontextprotocol/client/dist/index.mjs'),
  },
}

/** The tool that is called, and its arguments. */
const tools = [
  ['no arguments', {}],
  ['plain JSON Schema', { a: 1, b: 2 }],
] as const

export async function benchStartup(
  effort: Effort,
  wanted: (name: string) => boolean,
  found: (rows: readonly Row[]) => void,
): Promise<void> {
  for (const [entry, modules] of Object.entries(entries)) {
    const importing = `start / import of the ${entry} entry / CPU`
    if (!wanted(importing)) continue
    const figures = await rounds(effort.spawns, (subject) => importCpuMs(modules[subject]))
    found([{ ...toRow(importing, figures), budget: { of: 'difference', bound: 'at most', value: 20 } }])
  }
  for (const [tool, args] of tools) {
    const answering = `start / spawn to first answer on stdio, tool with ${tool} / time`
    if (!wanted(answering)) continue
    const figures = await rounds(effort.spawns, (subject) => firstAnswerMs(subject, args))
    found([{ ...toRow(answering, figures), budget: { of: 'ratio', bound: 'at most', value: 1.3 } }])
  }
}

type Figures = Readonly<Record<Subject, readonly number[]>>

async function rounds(count: number, figure: (subject: Subject) => Promise<number>): Promise<Figures> {
  const figures: Record<Subject, number[]> = { dragoman: [], bare: [], official: [] }
  for (let round = -1; round < count; round++) {
    for (const subject of rotated(subjects, round + subjects.length)) {
      const value = await figure(subject)
      // The round before the first fills the caches of the file system.
      if (round >= 0) figures[subject].push(value)
    }
  }
  return figures
}

async function importCpuMs(module: string): Promise<number> {
  const { stdout } = await run(process.execPath, [childPath('import'), module])
  return Number(stdout) / 1_000
}

function firstAnswerMs(subject: Subject, args: Readonly<Record<string, number>>): Promise<number> {
  const add = { ...call, params: { name: 'add', arguments: args } }
  const script = [childPath(`stdio-${subject}`), String(Object.keys(args).length)]
  return new Promise((resolve, reject) => {
    const start = performance.now()
    const child = spawn(process.execPath, script, { stdio: ['pipe', 'pipe', 'inherit'] })
    let ms = 0
    let answer = ''
    child.on('error', reject)
    child.stdout.on('data', (chunk: Buffer) => {
      answer += chunk.toString()
      if (ms > 0 || !answer.includes('\n')) return
      ms = performance.now() - start
      child.stdin.end()
    })
    child.on('exit', () => {
      try {
        resultOf(answer.slice(0, answer.indexOf('\n')))
        resolve(ms)
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    child.stdin.write(`${requestText('2026-07-28', add)(1)}\n`)
  })
}

function toRow(name: string, { dragoman, bare, official }: Figures): Row {
  return {
    name,
    unit: 'ms',
    measured: median(dragoman),
    baseline: median(bare),
    ratio: medianRatio(dragoman, bare),
    rival: { measured: median(official), ratio: medianRatio(official, bare) },
  }
}
