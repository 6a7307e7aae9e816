// Scopes on standard input and output: nobody is asked who they are there, so a principal is given, or is missed.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createServer, prompt, resource, serveStdio, template, tool } from '../../../src/index.ts'
import type { Server } from '../../../src/index.ts'
import type { Principal } from '../../../src/model/notification.ts'
import { recorder } from '../../durable/fakes.ts'
import { modern } from './stand-in.ts'

const scopes = ['staff']
const staff: Principal = { id: 'ada', scopes: new Set(scopes) }
const stranger: Principal = { id: 'eve', scopes: new Set() }

type Options = Partial<Parameters<typeof createServer>[0]>

const primitives: Readonly<Record<string, Options>> = {
  tool: { tools: [tool('hidden', { scopes }, () => 'x')] },
  resource: { resources: [resource('memo:hidden', { name: 'hidden', scopes }, () => 'x')] },
  template: { resources: [template('memo:{hidden}', { name: 'hidden', scopes }, () => 'x')] },
  prompt: { prompts: [prompt('hidden', { scopes }, () => 'x')] },
}

/** What a client that lists everything is told on this door. */
async function listed(server: Server, options: Parameters<typeof serveStdio>[1]): Promise<string> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  let heard = ''
  stdout.on('data', (chunk: Buffer) => (heard += chunk.toString()))
  const ended = serveStdio(server, { stdin, stdout, ...options })
  const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']
  for (const method of lists) stdin.write(`${JSON.stringify(modern(method, method))}\n`)
  stdin.end()
  await ended
  return heard
}

function heeded(options: Options): { server: Server; warnings(): readonly string[] } {
  const { logger, at } = recorder()
  const server = createServer({ name: 'scoped', version: '1', keys: [new Uint8Array(32)], logger, ...options })
  return { server, warnings: () => at('warn').map(({ message }) => message) }
}

for (const [kind, options] of Object.entries(primitives)) {
  test(`a ${kind} that asks for scopes is never seen without a principal, and that is warned of once`, async () => {
    const { server, warnings } = heeded(options)
    for (let times = 0; times < 2; times++) assert.doesNotMatch(await listed(server, {}), /hidden/)
    assert.equal(warnings().length, 1)
    assert.match(warnings()[0] ?? '', /asks for scopes, but this door knows nobody/)
  })

  test(`a ${kind} that asks for scopes is seen by a principal that has them, and nobody is warned`, async () => {
    const { server, warnings } = heeded(options)
    assert.match(await listed(server, { principal: staff }), /hidden/)
    assert.doesNotMatch(await listed(server, { principal: stranger }), /hidden/)
    assert.deepEqual(warnings(), [])
  })
}

test('the warning goes to the logger of the door where that has one of its own', async () => {
  const { server, warnings } = heeded(primitives['tool'] ?? {})
  const own = recorder()
  await listed(server, { logger: own.logger })
  assert.equal(own.at('warn').length, 1)
  assert.deepEqual(warnings(), [])
})

test('what asks for no scopes is nothing to warn of', async () => {
  const { server, warnings } = heeded({ tools: [tool('open', {}, () => 'x')] })
  assert.match(await listed(server, {}), /open/)
  assert.deepEqual(warnings(), [])
})
