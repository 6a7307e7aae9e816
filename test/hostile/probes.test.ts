// What servers of other libraries were seen to get wrong, on every door: silence, the wrong blame, a way around a check.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServer, fetchHandler, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { answersAlone, doors, headersFor, spoken } from './doors.ts'
import { call, modern, modernCall, text, version } from './requests.ts'

function probed(): Server {
  return createServer({
    name: 'probed',
    version: '1',
    tools: [
      tool('cyclic', { output: { type: 'object' } }, () => {
        const round: Record<string, unknown> = {}
        round['round'] = round
        return round
      }),
      tool('bigint', { output: { type: 'object' } }, () => ({ n: 1n })),
      tool('number', {}, () => 42 as never),
      tool('secretive', {}, () => {
        throw new Error('no luck')
      }),
      tool('grow', {}, (_args, ctx) => {
        ctx.server.replace(tool('grown', {}, () => 'new'))
        return 'grown'
      }),
      tool('step', {}, (_args, ctx) => {
        ctx.progress(1, 2)
        return 'done'
      }),
    ],
  })
}

for (const [name, open] of Object.entries(doors)) {
  test(`${name}: a result that cannot be sent is answered, and blamed on the server`, async () => {
    const door = await open(probed())
    if (!answersAlone(name)) await door.shake('2025-06-18')
    for (const broken of ['cyclic', 'bigint', 'number']) {
      const { message } = await door.say(spoken(name, text(modernCall(broken, broken))))
      assert.equal(message?.error?.code, -32603, broken)
    }
    const { message } = await door.say(spoken(name, text(modernCall('s', 'secretive'))))
    assert.equal(message?.result?.['isError'], true)
    assert.doesNotMatch(text(message ?? {}), /\.ts|at /)
    await door.close()
  })

  test(`${name}: params of the wrong shape are the client's fault, in one fixed line`, async () => {
    const door = await open(probed())
    if (!answersAlone(name)) await door.shake('2025-06-18')
    for (const params of [
      {},
      { name: 5 },
      { name: 'step', arguments: null },
      { name: 'step', arguments: [] },
      { name: 'step', arguments: 'x' },
    ]) {
      const { message } = await door.say(spoken(name, text(modern(1, 'tools/call', params))))
      // Over HTTP the header that has to repeat the name may be refused first.
      assert.ok([-32602, -32020].includes(message?.error?.code ?? 0), text({ params, message }))
      assert.ok((message?.error?.message ?? '').length < 80)
    }
    await door.close()
  })

  if (answersAlone(name))
    test(`${name}: the revision is that of each request, not of the first`, async () => {
      const door = await open(probed())
      assert.ok((await door.say(text(modernCall(1, 'step')))).message?.result)
      for (const claimed of ['1999-01-01', '2025-11-25', '2031-01-01']) {
        const odd = text(modernCall(claimed, 'step')).replace(version, claimed)
        const { message } = await door.say(odd)
        assert.ok(
          [-32022, -32020, -32000, -32600].includes(message?.error?.code ?? 0),
          `${claimed} ${text(message ?? {})}`,
        )
      }
      await door.close()
    })

  test(`${name}: two equal ids in one batch are two answers`, async () => {
    const door = await open(probed())
    await door.shake('2025-03-26')
    await door.say(text([call('twin', 'step'), call('twin', 'step')]))
    for (let tries = 0; tries < 100 && door.heard.filter(({ id }) => id === 'twin').length < 2; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.equal(door.heard.filter(({ id, method }) => id === 'twin' && method === undefined).length, 2)
    await door.close()
  })

  test(`${name}: a handshake without a name, and a second one, are refused by their own codes`, async () => {
    const door = await open(probed())
    const nameless = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {} },
    }
    assert.equal((await door.say(text(nameless))).message?.error?.code, -32602)
    assert.ok((await door.shake('2025-06-18')).message?.result)
    assert.equal((await door.shake('2025-06-18')).message?.error?.code, -32600)
    await door.close()
  })

  if (answersAlone(name))
    test(`${name}: a change made inside a call reaches whoever listens`, async () => {
      const door = await open(probed())
      void door.say(
        text(modern('listen', 'subscriptions/listen', { notifications: { toolsListChanged: true } })),
        2_000,
      )
      const heard = async (method: string): Promise<boolean> => {
        for (let tries = 0; tries < 200; tries++) {
          if (door.heard.some((message) => message.method === method)) return true
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        return false
      }
      assert.ok(await heard('notifications/subscriptions/acknowledged'))
      assert.ok((await door.say(text(modernCall(2, 'grow')))).message?.result)
      assert.ok(await heard('notifications/tools/list_changed'))
      await door.close()
    })
}

test('a client that takes only JSON never gets events, whatever the handler reports', async () => {
  const handler = fetchHandler(probed())
  const step = modernCall(1, 'step') as { params: { _meta: object } }
  const body = text({ ...step, params: { ...step.params, _meta: { ...step.params._meta, progressToken: 1 } } })
  const ask = async (accept: string): Promise<Response> =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        body,
        headers: { ...headersFor(body, undefined), accept },
      }),
    )
  assert.equal((await ask('application/json')).headers.get('content-type'), 'application/json')
  assert.equal((await ask('text/event-stream')).headers.get('content-type'), 'text/event-stream')
  assert.equal((await ask('*/*')).status, 200)
  for (const accept of [
    'application/jsonx,text/event-streamx',
    'text/html',
    'application/json;q=0, text/event-stream;q=0',
  ]) {
    assert.equal((await ask(accept)).status, 406, accept)
  }
})
