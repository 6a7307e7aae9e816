// Defends: a fixture starts in a fraction of a second, since clients that start it give it little time.
//   node tools/run.mjs FILE.ts …args
// Bundles FILE.ts into .cache when it or anything it imports has changed, and runs the bundle.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [entry = '', ...args] = process.argv.slice(2)
const bundle = resolve('.cache', `${entry.replaceAll(/\W+/g, '-')}.mjs`)
const inputsFile = `${bundle}.inputs.json`

function isFresh() {
  if (!existsSync(bundle) || !existsSync(inputsFile)) return false
  const { mtimeMs } = statSync(bundle)
  return JSON.parse(readFileSync(inputsFile, 'utf8')).every(
    (file) => existsSync(file) && statSync(file).mtimeMs < mtimeMs,
  )
}

if (!isFresh()) {
  const started = new Date()
  const { build } = await import('esbuild')
  const own = `${bundle}.${process.pid}`
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: own,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    metafile: true,
    logLevel: 'error',
  })
  mkdirSync('.cache', { recursive: true })
  writeFileSync(inputsFile, JSON.stringify(Object.keys(metafile.inputs)))
  utimesSync(own, started, started) // a source that changed meanwhile is newer
  renameSync(own, bundle) // others may be starting the same fixture just now
}

process.argv = [process.argv[0] ?? 'node', bundle, ...args]
await import(pathToFileURL(bundle).href)
