// Runs the official suite and reads what it wrote.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Check } from './judge.ts'

const suite = [
  '--import',
  './conformance/glob-sync.mjs',
  'node_modules/@modelcontextprotocol/conformance/dist/index.js',
]

/** What one run of the suite printed, and the checks of each scenario it ran. */
export interface Run {
  readonly output: string
  readonly results: ReadonlyMap<string, readonly Check[]>
}

/** Runs the server scenarios that `options` choose against `url`. */
export async function runServerScenarios(url: string, options: readonly string[]): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const output = await outputOf(['server', '--url', url, '-o', folder, ...options])
    const results = new Map(readdirSync(folder).map((name) => [scenarioOf(name), checksIn(join(folder, name))]))
    return { output, results }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The server scenarios that speak a revision with a handshake. */
export async function statefulScenarios(): Promise<readonly string[]> {
  const lines = (await outputOf(['list', '--server'])).split('\n')
  return lines.flatMap((line) => /^\s+- (\S+) \[.*2025-\d\d-\d\d.*\]$/.exec(line)?.[1] ?? [])
}

/** Each scenario leaves a folder `server-SCENARIO-TIMESTAMP`. */
function scenarioOf(folder: string): string {
  return folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

/** None where the scenario ended before it wrote any. */
function checksIn(folder: string): readonly Check[] {
  const file = join(folder, 'checks.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Check[]) : []
}

async function outputOf(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [...suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => parts.push(part))
  await new Promise((resolve) => child.once('close', resolve))
  return parts.join('')
}
