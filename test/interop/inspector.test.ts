import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { after, describe, test } from 'node:test'
import { shapes } from './client.ts'
import { overHttp, overStdio } from './reach.ts'
import type { Reach } from './reach.ts'

const inspector = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
)

interface Outcome {
  readonly status: number
  /** What it printed, as JSON where it is any. */
  readonly printed: unknown
  readonly text: string
}

/** Runs the inspector's command line. `--` ends options that take any number of values. */
function inspect(reach: Reach, ...options: string[]): Promise<Outcome> {
  const target = 'url' in reach ? [reach.url.href] : reach.command
  return new Promise((resolve) => {
    execFile(process.execPath, [inspector, '--cli', ...options, '--', ...target], (error, stdout, stderr) => {
      const status = error === null ? 0 : Number(error.code)
      resolve({ status, printed: status === 0 ? JSON.parse(stdout) : undefined, text: stdout + stderr })
    })
  })
}

function checkOver(name: string, reach: Reach): void {
  describe(name, { concurrency: 2 }, () => {
    const printed = async (...options: string[]): Promise<unknown> => {
      const { status, printed, text } = await inspect(reach, ...options)
      assert.equal(status, 0, text)
      return printed
    }

    test('lists tools', async () => {
      const { tools } = shapes.tools.parse(await printed('--method', 'tools/list'))
      assert.ok(tools.some((tool) => tool.name === 'add' && tool['title'] === 'Add two integers'))
    })

    test('calls a tool', async () => {
      const options = ['--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'a=2', 'b=40']
      const { structuredContent } = shapes.called.parse(await printed(...options))
      assert.deepEqual(structuredContent, { sum: 42 })
    })

    test('reads a resource', async () => {
      const { contents } = shapes.contents.parse(await printed('--method', 'resources/read', '--uri', 'memo://hello'))
      assert.deepEqual(contents, [{ uri: 'memo://hello', mimeType: 'text/plain', text: 'hello' }])
    })

    test('gets a prompt', async () => {
      const options = ['--method', 'prompts/get', '--prompt-name', 'greet', '--prompt-args', 'name=Ada']
      const { messages } = shapes.prompted.parse(await printed(...options))
      assert.match(JSON.stringify(messages), /greeting to Ada/)
    })

    test('says why a call was refused', async () => {
      const { status, text } = await inspect(reach, '--method', 'resources/read', '--uri', 'memo://nope')
      assert.notEqual(status, 0)
      assert.match(text, /There is no such resource/)
    })
  })
}

const http = await overHttp()
after(() => http.close())
const stdio = overStdio()
checkOver('the inspector over HTTP', http.reach)
checkOver('the inspector over stdio', stdio)
