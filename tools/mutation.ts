// Defends: the tests notice when a refusal, the order of checks or visibility changes. Runs Stryker over them; every mutant
// that survives has to be explained in docs/mutation.md, by its place and what it was changed to.
//   node --import tsx tools/mutation.ts [arguments for Stryker, such as --mutate src/server/visibility.ts]
// Stryker comes from npm and is kept in .cache.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const home = '.cache/stryker'
const program = `${home}/node_modules/@stryker-mutator/core/bin/stryker.js`
const report = `${home}/report.json`
const page = 'docs/mutation.md'

interface Mutant {
  readonly status: string
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number; readonly column: number } }
}

if (!existsSync(program)) {
  mkdirSync(home, { recursive: true })
  writeFileSync(`${home}/package.json`, '{"private":true}')
  const wanted = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/tap-runner@9.6.1']
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, ...wanted], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(status ?? 1)
}
rmSync(report, { force: true })
const { status } = spawnSync(process.execPath, [program, 'run', ...process.argv.slice(2)], { stdio: 'inherit' })
if (status !== 0 || !existsSync(report)) {
  console.log('Stryker did not finish.')
  process.exit(1)
}

const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
  files: Record<string, { source: string; mutants: readonly Mutant[] }>
}
const explained = readFileSync(page, 'utf8')
const all = Object.values(files).flatMap(({ mutants }) => mutants)
const survivors = Object.entries(files).flatMap(([file, { source, mutants }]) =>
  mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ location, mutatorName, replacement = '' }) => {
      // Line numbers move; the line itself does not, or the explanation has to be looked at again.
      const line = (source.split('\n')[location.start.line - 1] ?? '').trim()
      return { file, line, text: `${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 80)}` }
    }),
)
const unexplained = survivors.filter(
  ({ file, line, text }) => !(explained.includes(file) && explained.includes(line) && explained.includes(text)),
)
for (const { file, line, text } of unexplained) console.log(`UNEXPLAINED ${file}\n    ${line}\n    ${text}`)
console.log(
  `${all.length} mutants, ${survivors.length} survived, of which ${survivors.length - unexplained.length} are explained in ${page}`,
)
process.exit(unexplained.length > 0 || all.length === 0 ? 1 : 0)
