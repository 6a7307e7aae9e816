import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { entries } from '../../tools/entries.ts'

/** What users can import, by subpath. A line is added or removed here on purpose only. */
const offered: Readonly<Record<string, readonly string[]>> = {
  '.': [
    'Refusal',
    'StoreUnavailable',
    'ToolError',
    'UrlElicitationRequired',
    'answerSampling',
    'connectInMemory',
    'createCodecs',
    'createServer',
    'fetchHandler',
    'form',
    'inputRequired',
    'isRefusal',
    'isStoreUnavailable',
    'isToolError',
    'memoryStore',
    'method',
    'nodeHandler',
    'prompt',
    'resource',
    'result',
    'serveHttp',
    'serveStdio',
    'template',
    'tool',
  ],
  './apps': ['appTool', 'apps', 'appsIdentifier', 'canShowViews', 'view', 'viewMimeType'],
  './client': [
    'CallFailed',
    'Refusal',
    'connect',
    'connectAll',
    'isCallFailed',
    'isFailure',
    'isRefusal',
    'memoryListCache',
    'memoryVerdicts',
  ],
  './decorators': ['prompt', 'resource', 'template', 'tool'],
  './http': ['fetchHandler', 'nodeHandler', 'serveHttp'],
  './memory': ['connectInMemory'],
  './middleware': ['concurrency', 'logCalls', 'rateLimit', 'resultCap', 'timeouts'],
  './oauth': ['fileTokens', 'keychainTokens', 'loopbackRedirect', 'memoryTokens', 'oauth', 'pageRedirect'],
  './postgres': ['migratePostgres', 'postgres'],
  './redis': ['redis'],
  './refusals': ['Refusal', 'dataOf', 'fromWire', 'isRefusal', 'messageOf', 'neverSent', 'refusals', 'toWire'],
  './schema': ['compileInput', 'compileOutput', 'form', 'issuesText', 'useJsonSchemaEngine'],
  './skills': ['skills', 'skillsIdentifier'],
  './socket': ['serveSocket'],
  './sqlite': ['sqlite'],
  './stdio': ['serveStdio'],
  './telemetry': ['telemetry'],
  './testing': ['brokenFaults', 'brokenServer', 'playTranscript', 'testClient'],
}

const sourceOf = (code: string): string => code.replace('./dist/', 'src/').replace(/\.js$/, '.ts')

test('the subpaths are those offered, and each is one file directly under src/', () => {
  assert.deepEqual(
    entries().map(({ subpath }) => subpath),
    Object.keys(offered),
  )
  for (const { subpath, code, types } of entries()) {
    assert.equal(types.replace(/\.d\.ts$/, '.js'), code)
    assert.equal(code, `./dist/${subpath === '.' ? 'index' : subpath.slice(2)}.js`)
    assert.ok(existsSync(sourceOf(code)), sourceOf(code))
  }
})

for (const { subpath, code } of entries())
  test(`${subpath} exports what is offered`, async () => {
    const module = (await import(pathToFileURL(sourceOf(code)).href)) as object
    assert.deepEqual(Object.keys(module).sort(), [...(offered[subpath] ?? [])].sort())
  })
