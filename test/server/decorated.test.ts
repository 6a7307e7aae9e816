// Marked methods of classes as primitives: the same registry, one more spelling.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { tool as toolValue } from '../../src/index.ts'
import type { Context, PromptInput, Variables } from '../../src/index.ts'
import { prompt, resource, template, tool } from '../../src/decorators.ts'
import { clientOf, eras, serverOf, textOf } from './support.ts'

const rate = z.object({ cents: z.int() })

class Till {
  readonly #factor: number

  constructor(factor = 2) {
    this.#factor = factor
  }

  @tool({ description: 'Doubles', input: rate, output: z.object({ cents: z.int() }) })
  double({ cents }: z.infer<typeof rate>): { cents: number } {
    return { cents: cents * this.#factor }
  }

  @tool({ name: 'till.open', annotations: { readOnlyHint: true } })
  async open(_args: unknown, ctx: Context): Promise<string> {
    return `open on ${ctx.revision}`
  }

  @resource('till://sum', { mimeType: 'text/plain' })
  sum(uri: string): string {
    return `${uri} times ${this.#factor}`
  }

  @template('till://days/{day}', { complete: { day: () => ['monday'] } })
  day({ day }: Variables): string {
    return String(day)
  }

  @prompt({ description: 'Counts', arguments: { coins: { required: true } } })
  count({ coins }: PromptInput<{ coins: { required: true } }>): string {
    return `Count ${coins} by ${this.#factor}`
  }

  /** Not marked, so nobody outside hears of it. */
  secret(): string {
    return 'secret'
  }
}

for (const revision of eras)
  test(`${revision}: methods are tools, resources, templates and prompts, called on their object`, async () => {
    const server = serverOf()
    assert.deepEqual(server.add(new Till(3)), { kinds: ['tools', 'resources', 'prompts'], peers: 0 })
    const client = await clientOf(server, { revision })
    const namesOf = async (method: string, list: string, key = 'name') =>
      ((await client.request(method)).result?.[list] as Record<string, string>[]).map((each) => each[key])
    assert.deepEqual(await namesOf('tools/list', 'tools'), ['double', 'till.open'])
    assert.deepEqual(await namesOf('resources/list', 'resources'), ['sum'])
    assert.deepEqual(await namesOf('resources/templates/list', 'resourceTemplates', 'uriTemplate'), [
      'till://days/{day}',
    ])
    assert.deepEqual(await namesOf('prompts/list', 'prompts'), ['count'])
    const doubled = await client.request('tools/call', { name: 'double', arguments: { cents: 5 } })
    assert.deepEqual(doubled.result?.['structuredContent'], { cents: 15 })
    assert.equal(textOf(await client.request('tools/call', { name: 'till.open' })), `open on ${revision}`)
    const read = async (uri: string) => (await client.request('resources/read', { uri })).result?.['contents']
    assert.deepEqual(await read('till://sum'), [
      { uri: 'till://sum', mimeType: 'text/plain', text: 'till://sum times 3' },
    ])
    assert.deepEqual(await read('till://days/friday'), [{ uri: 'till://days/friday', text: 'friday' }])
    const got = await client.request('prompts/get', { name: 'count', arguments: { coins: '7' } })
    assert.deepEqual(got.result?.['messages'], [{ role: 'user', content: { type: 'text', text: 'Count 7 by 3' } }])
    const wrong = await client.request('tools/call', { name: 'double', arguments: { cents: 'five' } })
    assert.match(textOf(wrong), /Invalid arguments/)
    assert.equal((await client.request('tools/call', { name: 'secret' })).error?.code, -32602)
  })

test('inherited methods are found; the nearest definition counts, marked or not', async () => {
  class Base {
    @tool({}) one(): string {
      return 'base one'
    }
    @tool({}) two(): string {
      return 'base two'
    }
    @tool({}) three(): string {
      return 'base three'
    }
  }
  class Empty extends Base {}
  class Derived extends Base {
    @tool({}) override one(): string {
      return `derived after ${super.one()}`
    }
    override two(): string {
      return 'no tool any more'
    }
  }
  assert.deepEqual(serverOf().add(new Empty()).kinds, ['tools'])
  const client = await clientOf(serverOf().tool('other', {}, () => 'other'))
  await client.close()
  const server = serverOf()
  server.add(new Derived())
  const derived = await clientOf(server)
  assert.equal(textOf(await derived.request('tools/call', { name: 'one' })), 'derived after base one')
  assert.equal((await derived.request('tools/call', { name: 'two' })).error?.code, -32602)
  assert.equal(textOf(await derived.request('tools/call', { name: 'three' })), 'base three')
})

test('several objects, classes and plain values on one server', async () => {
  class Clock {
    readonly #now = 7
    @tool({}) static zone(): string {
      return 'UTC'
    }
    @tool({}) now(): string {
      return String(this.#now)
    }
  }
  const server = serverOf()
  server.add(
    new Till(),
    Clock,
    toolValue('plain', {}, () => 'plain'),
  )
  const client = await clientOf(server)
  const tools = (await client.request('tools/list')).result?.['tools'] as { name: string }[]
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['double', 'till.open', 'zone', 'now', 'plain'],
  )
  assert.equal(textOf(await client.request('tools/call', { name: 'zone' })), 'UTC')
  assert.equal(textOf(await client.request('tools/call', { name: 'now' })), '7')
})

test('a name that is taken is refused by name, and nothing of that call is added', async () => {
  class One {
    @tool({}) fresh(): string {
      return ''
    }
    @tool({ name: 'taken' }) mine(): string {
      return ''
    }
  }
  const server = serverOf().tool('taken', {}, () => 'first')
  assert.throws(() => server.add(new One()), /tools has "taken" already/)
  class Twice {
    @tool({ name: 'same' }) one(): string {
      return ''
    }
    @tool({ name: 'same' }) two(): string {
      return ''
    }
  }
  assert.throws(() => server.add(new Twice()), /tools has "same" already/)
  const client = await clientOf(server)
  const tools = (await client.request('tools/list')).result?.['tools'] as { name: string }[]
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['taken'],
  )
})

test('what has nothing marked is refused, and so is a class that cannot be made without arguments', () => {
  class Plain {
    method(): void {}
  }
  class Needy {
    readonly what: string
    constructor(what: string) {
      this.what = what
    }
    @tool({}) tell(): string {
      return this.what
    }
  }
  const server = serverOf()
  assert.throws(() => server.add(new Plain()), /Plain is no primitive and has no marked methods/)
  assert.throws(() => server.add(Plain), /Plain is no primitive/)
  assert.throws(() => server.add({}), /Object is no primitive/)
  assert.throws(() => server.add(Needy), /constructor of Needy takes arguments: add an instance/)
  assert.deepEqual(server.add(new Needy('told')).kinds, ['tools'])
})

test('accessors are not run to see whether they are marked', () => {
  let read = 0
  class Watched {
    get value(): number {
      return ++read
    }
    @tool({}) tell(): string {
      return ''
    }
  }
  serverOf().add(new Watched())
  assert.equal(read, 0)
})

test('a private method cannot be marked', () => {
  assert.throws(() => {
    class Hidden {
      @tool({}) #hidden(): string {
        return ''
      }
      open(): string {
        return this.#hidden()
      }
    }
    return Hidden
  }, /#hidden cannot be marked/)
})

test('a bad tool is refused by its name, whichever way it is spelled, and never breaks a listing', async () => {
  const bad = { type: 'object', properties: { a: { type: 'nonsense' } } }
  class Bad {
    @tool({ schema: { input: bad } }) broken(): string {
      return ''
    }
  }
  const server = serverOf().tool('good', {}, () => 'good')
  assert.throws(() => server.add(new Bad()), /tool "broken": /)
  assert.throws(() => server.tool('broken', { schema: { input: bad } }, () => ''), /tool "broken": /)
  assert.throws(() => server.add(toolValue('broken', { input: bad }, () => '')), /tool "broken": /)
  assert.throws(() => serverOf({ tools: [toolValue('broken', { output: bad }, () => ({}))] }), /tool "broken": /)
  const client = await clientOf(server)
  const tools = (await client.request('tools/list')).result?.['tools'] as { name: string }[]
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['good'],
  )
})

test('a schema written by hand is what is listed and what arguments are checked against', async () => {
  const input = { type: 'object', properties: { a: { type: 'string', minLength: 3 } }, required: ['a'] }
  const client = await clientOf(serverOf().tool('hooked', { schema: { input } }, () => 'fine'))
  const [listed] = (await client.request('tools/list')).result?.['tools'] as { inputSchema: { properties: object } }[]
  assert.deepEqual(listed?.inputSchema.properties, input.properties)
  assert.match(
    textOf(await client.request('tools/call', { name: 'hooked', arguments: { a: 'ab' } })),
    /Invalid arguments/,
  )
  assert.equal(textOf(await client.request('tools/call', { name: 'hooked', arguments: { a: 'abc' } })), 'fine')
})

test('tools, resources, templates and prompts chain', async () => {
  const server = serverOf()
    .tool('a', {}, () => 'a')
    .resource('doc://a', { name: 'a' }, () => 'a')
    .template('doc://all/{id}', { name: 'all' }, ({ id }) => String(id))
    .prompt('p', { arguments: { x: { required: true } } }, ({ x }) => x.toUpperCase())
  const client = await clientOf(server)
  assert.equal(textOf(await client.request('tools/call', { name: 'a' })), 'a')
  for (const uri of ['doc://a', 'doc://all/a']) {
    assert.deepEqual((await client.request('resources/read', { uri })).result?.['contents'], [{ uri, text: 'a' }])
  }
  const { result } = await client.request('prompts/get', { name: 'p', arguments: { x: 'x' } })
  assert.deepEqual(result?.['messages'], [{ role: 'user', content: { type: 'text', text: 'X' } }])
})
