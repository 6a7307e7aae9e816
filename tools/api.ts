// Defends: the public surface changes only on purpose. One report per subpath in etc/api; `npm run api` rewrites them.
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { entries } from './entries.ts'
import { filesUnder } from './files.ts'

const update = process.argv.includes('--update')
const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { compilerOptions: object }
const none = { logLevel: ExtractorLogLevel.None }
mkdirSync('etc/api', { recursive: true })
mkdirSync('.cache/api', { recursive: true })

const reports = entries().map(({ subpath, types }) => configOf(subpath === '.' ? 'dragoman' : subpath.slice(2), types))
const [first] = reports
if (first === undefined) throw new Error('package.json offers nothing')
const compilerState = CompilerState.create(first, {
  additionalEntryPoints: entries().map(({ types }) => resolve(types)),
})
const changed = reports.filter((config) => !Extractor.invoke(config, { localBuild: update, compilerState }).succeeded)
const known = reports.map((config) => resolve(config.reportFilePath))
const stale = filesUnder('etc/api', '.api.md').filter((file) => !known.includes(resolve(file)))
if (update) for (const file of stale) rmSync(file)

if (!update && changed.length + stale.length > 0) {
  console.error(
    `The public surface is not the one that etc/api reports: ${[...changed.map((config) => relative('.', config.reportFilePath)), ...stale].join(', ')}`,
  )
  console.error('If that is meant, run `npm run api` and commit the reports.')
  process.exit(1)
}
console.log(`${reports.length} reports`)

function configOf(name: string, types: string): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: resolve('.'),
      mainEntryPointFilePath: resolve(types),
      compiler: { overrideTsconfig: { compilerOptions, include: ['dist'] } },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: `${name.replaceAll('/', '-')}.api.md`,
        reportFolder: resolve('etc/api'),
        reportTempFolder: resolve('.cache/api'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Error },
          'ae-undocumented': none, // tools/docs.ts looks at exports; members may speak for themselves
          'ae-missing-release-tag': none,
          'ae-forgotten-export': none,
          'ae-unresolved-link': none,
        },
        tsdocMessageReporting: { default: none },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve('package.json'),
  })
}
