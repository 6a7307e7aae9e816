// Defends: the public surface changes only on purpose. One report per subpath in etc/api; `npm run api` rewrites them.
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { entries } from './entries.ts'
import { filesUnder } from './files.ts'

const update = process.argv.includes('--update')
const root = resolve('.')
mkdirSync('etc/api', { recursive: true })

const reports = entries().map(({ subpath, types }) => ({
  types,
  report: subpath === '.' ? 'dragoman' : subpath.slice('./'.length).replaceAll('/', '-'),
}))
const changed = reports.filter(({ types, report }) => !extract(types, report))
const stale = filesUnder('etc/api', '.api.md').filter(
  (file) => !reports.some(({ report }) => file.endsWith(`/${report}.api.md`)),
)
if (update) for (const file of stale) rmSync(file)

if (!update && changed.length + stale.length > 0) {
  console.error(
    `The public surface is not the one reported in etc/api: ${[...changed.map(({ report }) => report), ...stale].join(', ')}.`,
  )
  console.error('If that is meant, run `npm run api` and commit the reports.')
  process.exit(1)
}
console.log(`${reports.length} reports`)

/** Writes or compares one report; false where it differs from the committed one. */
function extract(types: string, report: string): boolean {
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: resolve(types),
      compiler: { overrideTsconfig: { compilerOptions: { ...compilerOptions(), noEmit: true }, include: ['dist'] } },
      apiReport: {
        includeForgottenExports: true,
        enabled: true,
        reportFileName: `${report}.api.md`,
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
          'ae-undocumented': { logLevel: ExtractorLogLevel.None }, // tools/docs.ts looks at exports; members may speak for themselves
          'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
          'ae-forgotten-export': { logLevel: ExtractorLogLevel.None },
          'ae-unresolved-link': { logLevel: ExtractorLogLevel.None },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve('package.json'),
  })
  mkdirSync('.cache/api', { recursive: true })
  const { succeeded } = Extractor.invoke(config, {
    localBuild: update,
    showVerboseMessages: false,
    messageCallback: (message) => {
      if (message.messageId === 'console-compiler-version-notice' || message.logLevel === ExtractorLogLevel.Verbose)
        message.handled = true
    },
  })
  return succeeded
}

function compilerOptions(): object {
  return (JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { compilerOptions: object }).compilerOptions
}
