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
  return recorded(async (folder) => {
    const { output } = await outputOf(['server', '--url', url, '-o', folder, ...options])
    const results = new Map(readdirSync(folder).map((name) => [scenarioOf(name), checksIn(join(folder, name))]))
    return { output, results }
  })
}

/** Runs one scenario for clients, with `command` as the client. An exit of the client that the suite takes for a failure is one here. */
export async function runClientScenario(command: string, scenario: string, options: readonly string[]): Promise<Run> {
  return recorded(async (folder) => {
    const args = ['client', '--command', command, '--scenario', scenario, '--timeout', '60000', '-o', folder]
    const { output, code } = await outputOf([...args, ...options])
    const [name] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('checks.json'),
    )
    const checks = name === undefined ? [] : checksIn(join(folder, name, '..'))
    const exit: Check = { id: 'exit', status: code === 0 ? 'SUCCESS' : 'FAILURE', description: `exit code ${code}` }
    return { output, results: new Map([[scenario, [...checks, exit]]]) }
  })
}

async function recorded(run: (folder: string) => Promise<Run>): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A scenario of the suite, and the revisions that it is for; none for that of an extension. */
export interface Scenario {
  readonly name: string
  readonly revisions: readonly string[]
}

/** The scenarios that the suite has for one of the two sides. */
export async function scenariosFor(side: 'server' | 'client'): Promise<readonly Scenario[]> {
  const { output } = await outputOf(['list', `--${side}`])
  return [...output.matchAll(/^\s+- (\S+) \[(.*)\]$/gm)].map(([, name = '', list = '']) => ({
    name,
    revisions: list.split(',').filter((one) => /^\d{4}-\d\d-\d\d$/.test(one)),
  }))
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

async function outputOf(args: readonly string[]): Promise<{ readonly output: string; readonly code: number | null }> {
  const child = spawn(process.execPath, [...suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => parts.push(part))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { output: parts.join(''), code }
}
