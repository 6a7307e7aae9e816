// What the author of a server says of its capabilities.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool } from '../../src/index.ts'
import type { ServerOptions } from '../../src/index.ts'
import { clientOf, recorder, revisions, serverOf, textOf } from './support.ts'

const idempotency = { 'dev.dragoman/idempotencyKey': {} }

async function declared(options: Partial<ServerOptions>, revision: string): Promise<Record<string, unknown>> {
  const client = await clientOf(serverOf(options), { revision })
  const said = client.introduction ?? (await client.request('server/discover')).result
  return said?.['capabilities'] as Record<string, unknown>
}

for (const revision of revisions) {
  test(`${revision}: experimental capabilities stand beside the one of the library`, async () => {
    const capabilities = {
      experimental: { 'com.example/mood': { good: true }, 'dev.dragoman/idempotencyKey': { a: 1 } },
    }
    const { experimental, logging } = await declared({ capabilities }, revision)
    assert.deepEqual(experimental, { 'com.example/mood': { good: true }, ...idempotency })
    assert.deepEqual(logging, {})
  })

  test(`${revision}: without logging none is declared, none is sent, and no level is set`, async () => {
    const said = { heard: 0 }
    const { logger, at } = recorder()
    const server = serverOf({
      logger,
      capabilities: { logging: false },
      tools: [
        tool('talks', {}, (_, ctx) => {
          said.heard++
          ctx.log('emergency', 'fire')
          return 'done'
        }),
      ],
    })
    assert.equal('logging' in (await declared({ capabilities: { logging: false } }, revision)), false)
    const client = await clientOf(server, { revision })
    assert.equal((await client.request('logging/setLevel', { level: 'debug' })).error?.code, -32601)
    const _meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
    assert.equal(textOf(await client.request('tools/call', { name: 'talks', _meta })), 'done')
    assert.equal(said.heard, 1)
    assert.deepEqual(client.heard, [])
    assert.deepEqual(
      at('warn').filter(({ message }) => message.startsWith('deprecated')),
      [],
    )
  })
}
