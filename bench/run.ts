// Measures Dragoman as built against the least that could do the same, in one run, and prints the ratios.
//   npm run bench                    everything, about ten minutes
//   npm run bench -- --quick         less of it, about a minute
//   npm run bench -- --only TEXT     the cases whose name contains TEXT; can be given several times
//   npm run bench -- --json FILE     writes the rows to FILE too
//   npm run bench -- --gate [SLACK]  fails where a figure is more than SLACK times (2) worse than its budget
// With BENCH_PROFILE=http-dragoman (or another of children/) that process leaves a CPU profile in .cache/profiles.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { benchClient } from './client.ts'
import { full, quick } from './effort.ts'
import { benchHttp } from './http.ts'
import { benchMemory } from './memory.ts'
import { benchMiddleware } from './middleware.ts'
import { benchOnce } from './once.ts'
import { readOptions } from './options.ts'
import { isWithin, toTable, type Row } from './rows.ts'
import { benchStartup } from './startup.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const options = readOptions(process.argv.slice(2))
installIfMissing()

const effort = options.quick ? quick : full
const rows: Row[] = []
const started = Date.now()
const wanted = (name: string): boolean => options.only.length === 0 || options.only.some((part) => name.includes(part))
const found = (more: readonly Row[]): void => {
  rows.push(...more)
  for (const { name, ratio } of more) console.error(`${name}: ${ratio.toFixed(2)}`)
}

for (const bench of [benchMemory, benchHttp, benchMiddleware, benchOnce, benchClient, benchStartup])
  await bench(effort, wanted, found)
if (rows.length === 0) throw new Error(`No case has ${options.only.join(' or ')} in its name`)

const machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  load: loadavg()[0] ?? 0,
  seconds: Math.round((Date.now() - started) / 1_000),
}
console.log(`\n${toTable(rows)}\n`)
console.log(
  `Node ${machine.node}, ${machine.cores} cores of ${machine.cpu}, load ${machine.load.toFixed(1)}, ${machine.seconds} s.`,
)
console.log(
  'Ratios are medians over rounds in which every server had its turn. Compare ratios, not figures of two runs.',
)
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ machine, effort, rows }, undefined, 2)}\n`)

const missed = rows.filter((row) => !isWithin(row, options.gate))
if (options.gate !== undefined && missed.length > 0) {
  console.error(
    `\nMore than ${options.gate} times worse than the budget:\n${missed.map(({ name }) => `  ${name}`).join('\n')}`,
  )
  process.exit(1)
}

/** The packages to compare with are nobody's dependency but this folder's. */
function installIfMissing(): void {
  const installed = `${here}node_modules/.package-lock.json`
  const wantedVersions = versions(`${here}package-lock.json`)
  if (existsSync(installed) && wantedVersions === versions(installed)) return
  console.error('Installing what is compared with: npm ci in bench/')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}

function versions(lockfile: string): string {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { packages: Record<string, { version?: string }> }
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version }]) => `${path}@${version}`)
    .sort()
    .join('\n')
}
