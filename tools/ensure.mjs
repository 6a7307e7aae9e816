// Defends: `npm test`, `npm run demo` and `npm start` work on a fresh clone where only Node and npm are there.
// Installs what the lockfile asks for and node_modules lacks, and says so; otherwise silent. Plain JavaScript: nothing is installed yet.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)
const read = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))

const floor = [20, 19]
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < floor[0] || (major === floor[0] && minor < floor[1])) {
  console.error(`Node ${floor.join('.')} or later is needed; this is ${process.versions.node}.`)
  process.exit(1)
}

/** The packages that the lockfile asks for on every platform and that are not installed in that version. */
function missing() {
  if (!existsSync(new URL('node_modules/.package-lock.json', root))) return ['everything']
  const installed = read('node_modules/.package-lock.json').packages
  return Object.entries(read('package-lock.json').packages)
    .filter(
      ([path, { optional, peer, link, version }]) =>
        path && !optional && !peer && !link && installed[path]?.version !== version,
    )
    .map(([path]) => path.replace('node_modules/', ''))
}

const absent = missing()
if (absent.length > 0) {
  const fresh = absent[0] === 'everything'
  const command = fresh ? 'ci' : 'install'
  console.error(
    `Installing what is missing (${absent.slice(0, 5).join(', ')}${absent.length > 5 ? ' …' : ''}): npm ${command}`,
  )
  const started = Date.now()
  // Only what stops the installation: some packages for development ask for a newer Node than is needed here.
  const { status } = spawnSync('npm', [command, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: fileURLToPath(root),
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
  console.error(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`)
}
