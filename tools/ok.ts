// Defends: one command says whether the package may be released, apart from its tests. Every step runs, so that one run shows all faults.
import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

const steps: readonly (readonly [name: string, command: string])[] = [
  ['format', 'oxfmt --check'],
  ['lint', 'oxlint --type-aware --deny-warnings'],
  ['types', 'npm run -s types'],
  ['rooms, dates and doc comments', 'node --import tsx tools/check.ts'],
  ['unused code', 'knip'],
  ['build', 'npm run -s build'],
  ['entries load', 'node --import tsx tools/entries-load.ts'],
  ['package', 'publint --strict'],
  ['types as users see them', 'attw --pack . --profile esm-only'],
  ['public surface', 'node --import tsx tools/api.ts'],
]

const only = process.argv.slice(2)
const failed: string[] = []
for (const [name, command] of steps.filter(([name]) => only.length === 0 || only.some((part) => name.includes(part)))) {
  const started = Date.now()
  const { status, stdout, stderr } = spawnSync(`npx --no-install ${command}`, {
    shell: true,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  const seconds = ((Date.now() - started) / 1000).toFixed(1).padStart(6)
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${seconds} s  ${name}`)
  if (status === 0) continue
  failed.push(name)
  console.log(stripVTControlCharacters(`${stdout}${stderr}`).trimEnd().replace(/^/gm, '     '))
}
console.log(failed.length === 0 ? '\nAll well.' : `\nNot well: ${failed.join(', ')}.`)
process.exit(failed.length === 0 ? 0 : 1)
