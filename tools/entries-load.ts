// Defends: every built entry loads by itself under the plain runtime, printing nothing.
import { spawnSync } from 'node:child_process'
import { entries } from './entries.ts'

let failed = false
for (const { subpath, code } of entries()) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [code], { encoding: 'utf8' })
  if (status === 0 && stdout === '' && stderr === '') continue
  failed = true
  console.error(`${subpath}: exit ${status}\n${stdout}${stderr}`)
}
console.log(`${entries().length} entries`)
process.exit(failed ? 1 : 0)
