// Defends: one command runs every test, shows each failure and each skipped check, and cannot pass by running nothing.
//   npm test                    every test/**/*.test.ts
//   npm test -- wire peer/ask   the files whose path contains one of these
import { filesUnder } from './files.ts'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'

/** Milliseconds that one file may take. */
const fileTimeout = 300_000

/** What the tests of one file came to. Node reports file after file, so a file is told when the next one begins. */
interface Tally {
  readonly file: string
  pass: number
  fail: number
  ms: number
}

const patterns = process.argv.slice(2)
const files = filesUnder('test', '.test.ts').filter(
  (file) => patterns.length === 0 || patterns.some((p) => file.includes(p)),
)
if (files.length === 0) {
  console.error(`No test file matches ${patterns.join(', ') || 'test/**/*.test.ts'}.`)
  process.exit(1)
}

const started = Date.now()
const total = { pass: 0, fail: 0 }
let current: Tally | undefined
const failures: string[] = []
const skips: string[] = []
const running = run({ files: [...files], concurrency: availableParallelism(), timeout: fileTimeout })

running.on('test:pass', (test) => {
  const file = fileOf(test)
  if (test.skip !== undefined && test.skip !== false)
    return void skips.push(`${file}: ${test.name}${reason(test.skip)}`)
  if (test.todo !== undefined && test.todo !== false) return void skips.push(`${file}: ${test.name} (todo)`)
  if (isFileItself(test)) return fail(file, test.name, 'The file defines no test.')
  if (test.details.type !== 'suite') count(file).pass++
  if (test.nesting === 0) count(file).ms += test.details.duration_ms
})
running.on('test:fail', (test) => {
  const file = fileOf(test)
  if (test.nesting === 0) count(file).ms += test.details.duration_ms
  const error = test.details.error
  if ('failureType' in error && error.failureType === 'subtestsFailed') return
  fail(file, test.name, inspect(error.cause ?? error))
})
running.on('test:stderr', ({ message }) => void process.stderr.write(message))
for await (const event of running) void event

tell()

for (const failure of failures) console.log(`\n${failure}`)
if (skips.length > 0) console.log(`\nSKIPPED, so not checked here:\n  ${skips.join('\n  ')}`)
console.log(`\n# files ${files.length}\n# tests ${total.pass + total.fail + skips.length}`)
console.log(
  `# pass ${total.pass}\n# fail ${total.fail}\n# skipped ${skips.length}\n# seconds ${((Date.now() - started) / 1000).toFixed(1)}`,
)
process.exit(total.fail > 0 || total.pass === 0 ? 1 : 0)

function count(file: string): Tally {
  if (current?.file === file) return current
  tell()
  current = { file, pass: 0, fail: 0, ms: 0 }
  return current
}

function tell(): void {
  if (current === undefined) return
  const { file, pass, fail, ms } = current
  total.pass += pass
  total.fail += fail
  const seconds = (ms / 1000).toFixed(1).padStart(6)
  console.log(`${fail > 0 ? 'FAIL' : 'ok  '} ${file.padEnd(48)} ${String(pass).padStart(5)} passed ${seconds} s`)
}

function fail(file: string, name: string, text: string): void {
  count(file).fail++
  failures.push(`FAIL ${file}: ${name}\n${text.replace(/^\s+at .*\(?node:internal.*\n?/gm, '').replace(/^/gm, '  ')}`)
}

function fileOf(test: { file?: string | undefined; name: string }): string {
  return relative('.', test.file ?? test.name)
}

function isFileItself(test: { file?: string | undefined; name: string; nesting: number }): boolean {
  return test.nesting === 0 && test.name.endsWith('.test.ts') && relative('.', test.name) === fileOf(test)
}

function reason(skip: string | boolean): string {
  return typeof skip === 'string' && skip !== '' ? ` (${skip})` : ''
}
