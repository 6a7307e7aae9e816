// Defends: a server starts fast. Loading a module costs far more than what is in it, so the package is built into few
// files: one for each entry, one with what they share, and one with the engine for plain JSON Schema, which is a hundred
// modules where it comes from. The types stay as tsc writes them.
import { build } from 'esbuild'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const { bin, exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const built = Object.values(exports).flatMap(({ default: code }) => (code ? [code] : []))
const sourceOf = (code) => resolve(code.replace(/^(\.\/)?dist\//, 'src/').replace(/\.js$/, '.ts'))
const entries = built.map(sourceOf)
const main = resolve('src/index.ts')
const common = { bundle: true, platform: 'node', target: 'node20.19', outdir: 'dist', logLevel: 'warning' }

/** The client is loaded by programs that have no server, and does not wait for one to load. */
const apart = resolve('src/client.ts')

/** What the client shares with others but not with the main entry would become a file of its own, too small to be worth one. */
const shared = resolve('src/model/failure.ts')

/** What some entries share and others do not would become a file of its own, a dozen in all; so all share the main one. */
const oneCore = {
  name: 'one-core',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!entries.includes(path) || path === apart) return undefined
      const more = path === main ? shared : main
      return { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(more)}\n`, loader: 'ts' }
    })
  },
}

await build({
  ...common,
  entryPoints: [...entries, ...Object.values(bin).map(sourceOf)],
  plugins: [oneCore],
  // The package says that its modules do nothing when loaded, which would have the imports above left out.
  ignoreAnnotations: true,
  format: 'esm',
  splitting: true,
  chunkNames: 'shared-[hash]',
  packages: 'external',
})
await build({
  ...common,
  entryPoints: { 'json-schema-engine': 'typebox/schema' },
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  minify: true,
  banner: { js: `/*!\n${readFileSync('node_modules/typebox/license', 'utf8').trim()}\n*/` },
})
