// Defends: the wire behaves byte for byte as a folder of outside checks wants it, on every revision and transport.
// The folder is not part of this repository: DRAGOMAN_WIRE names it, by default ../shared/wire. Without it, nothing is checked, and that is said.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startFixture } from '../tools/fixture.ts'
import { wireExclusions } from './wire-exceptions.ts'

const folder = process.env['DRAGOMAN_WIRE'] ?? '../shared/wire'
const runner = join(folder, 'run.mjs')
if (!existsSync(runner)) {
  console.log(`\n*** NOT CHECKED: there are no wire checks in ${folder} (set DRAGOMAN_WIRE) ***\n`)
  process.exit(0)
}

const command = 'npm run -s fixture:wire --'
await using fixture = await startFixture(command)
const sse = new URL('/sse', fixture.url).href
const args = [
  runner,
  '--http',
  fixture.url.href,
  '--sse',
  sse,
  '--stdio',
  `${command} --stdio`,
  ...process.argv.slice(2),
]
const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })

const passed = new Set<string>()
const failed = new Map<string, string[]>()
let detail: string[] | undefined
for await (const line of createInterface({ input: child.stdout })) {
  const [, verdict, name = ''] = /^(ok {2}|FAIL) (.*)$/.exec(line) ?? []
  if (verdict === 'FAIL') failed.set(name, (detail = []))
  else if (verdict !== undefined) passed.add(name)
  else if (line.startsWith('     ')) detail?.push(line)
}

const excluded = [...failed.keys()].filter((name) => Object.hasOwn(wireExclusions, name))
const unexpected = [...failed].filter(([name]) => !Object.hasOwn(wireExclusions, name))
for (const [name, lines] of unexpected) console.log(`FAIL ${name}\n${lines.join('\n')}`)
for (const name of excluded) console.log(`not asked: ${name} (${wireExclusions[name]})`)
for (const name of passed)
  if (Object.hasOwn(wireExclusions, name)) console.log(`passes already, so it can be asked: ${name}`)
console.log(`wire checks: ${passed.size} passed, ${unexpected.length} failed, ${excluded.length} not asked`)
process.exitCode = unexpected.length > 0 || passed.size === 0 ? 1 : 0
