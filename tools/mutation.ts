// Defends: the tests notice when a refusal, the order of checks or visibility changes. Runs Stryker over the files below, one
// after the other, each with the tests that defend it; every mutant that survives has to be explained in docs/mutation.md, by
// its place and what it was changed to.
//   node --import tsx tools/mutation.ts [--mutate file[:from-to]] [other arguments for Stryker, such as --concurrency 1]
// Stryker comes from npm and is kept in .cache.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const home = '.cache/stryker'
const program = `${home}/node_modules/@stryker-mutator/core/bin/stryker.js`
const report = `${home}/report.json`
const page = 'docs/mutation.md'

/** Few tests keep a run short, and can only notice less: the first that fails ends a mutant. */
const defenders: Readonly<Record<string, readonly string[]>> = {
  'src/codec/refusals.ts': ['test/codec/refusals.test.ts'],
  'src/codec/refuse.ts': ['test/codec/refuse.test.ts', 'test/codec/refusals.test.ts'],
  'src/peer/handshake.ts': ['test/peer/handshake.test.ts'],
  'src/peer/methods.ts': ['test/peer/methods.test.ts'],
  'src/peer/self-contained.ts': ['test/peer/self-contained.test.ts', 'test/peer/order.test.ts'],
  'src/server/visibility.ts': ['test/server/visibility.test.ts'],
}

interface Place {
  readonly line: number
  readonly column: number
}

interface Mutant {
  readonly status: string
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: Place; readonly end: Place }
}

interface Survivor {
  readonly file: string
  readonly line: string
  readonly change: string
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

function install(): void {
  if (existsSync(program)) return
  mkdirSync(home, { recursive: true })
  writeFileSync(`${home}/package.json`, '{"private":true}')
  const wanted = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/tap-runner@9.6.1']
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, ...wanted], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** The mutants of `what`, a file or some lines of one, and those of them that no test noticed. */
function run(what: string, passed: readonly string[]): { readonly count: number; readonly survivors: Survivor[] } {
  const testFiles = defenders[what.replace(/:.*/, '')]
  if (!testFiles) throw new Error(`${what} is not among the files whose defenders tools/mutation.ts knows`)
  const settings = JSON.parse(readFileSync('stryker.config.json', 'utf8')) as { readonly tap: object }
  const config = `${home}/config.json`
  writeFileSync(config, JSON.stringify({ ...settings, mutate: [what], tap: { ...settings.tap, testFiles } }))
  rmSync(report, { force: true })
  const { status } = spawnSync(process.execPath, [program, 'run', config, ...passed], { stdio: 'inherit' })
  if (status !== 0 || !existsSync(report)) throw new Error(`Stryker did not finish ${what}.`)
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { source: string; mutants: readonly Mutant[] }>
  }
  const found = Object.entries(files)
  return {
    count: found.reduce((sum, [, { mutants }]) => sum + mutants.length, 0),
    survivors: found.flatMap(([file, { source, mutants }]) =>
      mutants
        // Whatever did not make a test fail, or wait for ever, was not noticed.
        .filter((mutant) => mutant.status !== 'Killed' && mutant.status !== 'Timeout')
        .map((mutant) => toSurvivor(file, source.split('\n'), mutant)),
    ),
  }
}

/** Line numbers move; the line itself does not, or the explanation has to be looked at again. */
function toSurvivor(file: string, lines: readonly string[], mutant: Mutant): Survivor {
  const { start, end } = mutant.location
  const touched = lines.slice(start.line - 1, end.line)
  const all = touched.join('\n')
  const after = (touched.at(-1)?.length ?? 0) - (end.column - 1)
  const before = all.slice(start.column - 1, all.length - after)
  const short = (text: string): string => oneLine(text).slice(0, 80)
  const change = `${mutant.mutatorName}: ${short(before)} → ${short(mutant.replacement ?? '')}`
  return { file, line: oneLine(lines[start.line - 1] ?? ''), change }
}

install()
const passed = process.argv.slice(2)
const at = passed.indexOf('--mutate')
const [, only] = at < 0 ? [] : passed.splice(at, 2)
const explanations = readFileSync(page, 'utf8').split(/^- /m).map(oneLine)
let failed = false
for (const what of only === undefined ? Object.keys(defenders) : [only]) {
  const { count, survivors } = run(what, passed)
  const unexplained = survivors.filter(
    (survivor) =>
      !explanations.some((text) => Object.values<string>({ ...survivor }).every((part) => text.includes(part))),
  )
  for (const { file, line, change } of unexplained) console.log(`UNEXPLAINED ${file}\n    ${line}\n    ${change}`)
  const explained = survivors.length - unexplained.length
  console.log(`${what}: ${count} mutants, ${survivors.length} survived, of which ${explained} are explained in ${page}`)
  failed ||= unexplained.length > 0 || count === 0
}
process.exit(failed ? 1 : 0)
