import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileTokens } from '../../../src/oauth.ts'
import { agreeing, call, startWorld } from './support.ts'

/** A process that has the tokens of the file, an hour later, and prints what it would send. */
function laterProcess(path: string, url: string): Promise<string> {
  const code = `
    import { fileTokens, oauth } from ${JSON.stringify(resolve('src/oauth.ts'))}
    const open = () => { throw new Error('the user was asked') }
    const store = fileTokens(${JSON.stringify(path)})
    const clock = () => Date.now() + 3600_000
    const authorization = oauth({ grant: { type: 'authorization_code', open }, store, clock })
    const { authorization: sent } = await authorization.headers({ url: ${JSON.stringify(url)}, method: 'POST' })
    process.stdout.write(sent ?? 'nothing')`
  return new Promise((done) => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => void (output += part))
    child.once('close', () => done(output))
  })
}

test('processes that share a file use a refresh token once', async () => {
  await using world = await startWorld()
  const { server, issuer } = world
  const path = join(mkdtempSync(join(tmpdir(), 'tokens-')), 'tokens.json')
  await call(agreeing({ store: fileTokens(path) }), server.url)
  // None of them is answered before all of them have begun, or could have.
  const token = issuer.routes.get('/token') ?? (() => 404)
  issuer.routes.set('/token', async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 2000))
    return token(request)
  })
  const sent = await Promise.all([1, 2, 3].map(() => laterProcess(path, server.url)))
  assert.match(sent[0] ?? '', /^Bearer access-/)
  assert.equal(new Set(sent).size, 1)
  assert.equal(issuer.asked().filter((form) => form.get('grant_type') === 'refresh_token').length, 1)
})
