import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { shapes } from './client.ts'
import type { Answers, CallOptions, InteropClient } from './client.ts'
import { overHttp, overStdio } from './reach.ts'
import type { Reach } from './reach.ts'

/** What differs between the revisions that a client may agree to. */
export interface Expected {
  readonly revision: string
  /** The code of a resource that is not there. */
  readonly unknownResource: number
}

export type Connect = (reach: Reach, answers: Answers) => Promise<InteropClient>

/** Declares the checks of one client over both transports. */
export function checkInterop(name: string, connect: Connect, expected: Expected): void {
  describe(`${name} over HTTP`, async () => {
    const http = await overHttp()
    after(() => http.close())
    checkOver(http.reach, connect, expected)
  })
  describe(`${name} over stdio`, () => checkOver(overStdio(), connect, expected))
}

function checkOver(reach: Reach, connect: Connect, expected: Expected): void {
  let client: InteropClient
  let elicited: string[] = []
  let reply: ReturnType<Answers['elicit']> = { action: 'decline' }

  before(async () => {
    client = await connect(reach, {
      elicit(message) {
        elicited.push(message)
        return reply
      },
      sample: (text) => `You said: ${text}`,
    })
  })
  after(() => client.close())

  const call = async (name: string, args: Record<string, unknown> = {}, options?: CallOptions) =>
    shapes.called.parse(await client.call(name, args, options))
  const textOf = async (name: string, args: Record<string, unknown> = {}, options?: CallOptions) =>
    (await call(name, args, options)).content[0]?.text

  test('agrees on the revision', () => assert.equal(client.agreed, expected.revision))

  test('lists tools with schemas, titles and annotations', async () => {
    const { tools } = shapes.tools.parse(await client.listTools())
    const add = tools.find(({ name }) => name === 'add')
    assert.equal(add?.['title'], 'Add two integers')
    assert.ok(add?.['inputSchema'] && add['outputSchema'] && add['icons'])
    assert.deepEqual(add?.['annotations'], { readOnlyHint: true })
    assert.ok(tools.every(({ name }) => name !== 'hidden'))
  })

  test('lists resources, templates and prompts', async () => {
    const { resources } = shapes.resources.parse(await client.listResources())
    assert.ok(resources.some(({ uri }) => uri === 'memo://hello'))
    const { resourceTemplates } = shapes.templates.parse(await client.listTemplates())
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ['note://{id}'],
    )
    const { prompts } = shapes.prompts.parse(await client.listPrompts())
    assert.deepEqual(
      prompts.map(({ name }) => name),
      ['greet', 'broken', 'unmade'],
    )
  })

  test('calls a tool', async () => assert.equal(await textOf('echo', { text: 'héllo \u2028 🙂' }), 'héllo \u2028 🙂'))

  test('gets structured output and its text copy', async () => {
    const { content, structuredContent } = await call('add', { a: 2, b: 40 })
    assert.deepEqual(structuredContent, { sum: 42 })
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), { sum: 42 })
  })

  test('gets every kind of content', async () => {
    const { content } = await call('kinds')
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'image', 'audio', 'resource', 'resource_link'],
    )
  })

  test('is asked, accepts and declines', async () => {
    elicited = []
    reply = { action: 'accept', content: { sure: true } }
    assert.equal(await textOf('confirm', { env: 'prod' }), 'deployed to prod')
    reply = { action: 'decline' }
    assert.equal(await textOf('confirm', { env: 'dev' }), 'cancelled')
    assert.deepEqual(elicited, ['Deploy to prod?', 'Deploy to dev?'])
  })

  test('is asked for a sample', async () => {
    assert.equal(await textOf('needs_sampling'), 'You said: Say one word.')
  })

  // The official clients drop a report that arrives in one chunk with the result, hence the pause behind each.
  test('hears of progress', async () => {
    const reports: [number, number | undefined][] = []
    const onProgress = (progress: number, total: number | undefined): void => void reports.push([progress, total])
    assert.equal(await textOf('progress', { steps: 3, ms: 100 }, { onProgress }), 'done')
    assert.deepEqual(reports, [
      [1, 3],
      [2, 3],
      [3, 3],
    ])
  })

  test('cancels a call', async () => {
    const before = Number(await textOf('aborted'))
    const controller = new AbortController()
    const calling = call('slow', { ms: 30_000 }, { signal: controller.signal })
    setTimeout(() => controller.abort('enough'), 100)
    await assert.rejects(calling)
    for (let tries = 0; tries < 50 && Number(await textOf('aborted')) === before; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(Number(await textOf('aborted')), before + 1)
  })

  test('runs calls side by side', async () => {
    const texts = await Promise.all([40, 10, 25].map((ms, index) => textOf('slow', { ms, tag: String(index) })))
    assert.deepEqual(texts, ['done 0', 'done 1', 'done 2'])
  })

  test('reads text, bytes and a template', async () => {
    const read = async (uri: string) => shapes.contents.parse(await client.read(uri)).contents[0]
    assert.equal((await read('memo://hello'))?.['text'], 'hello')
    assert.equal((await read('memo://blob'))?.['blob'], 'AAEC/w==')
    assert.equal((await read('note://7'))?.['text'], 'note 7')
  })

  test('gets a prompt', async () => {
    const { messages } = shapes.prompted.parse(await client.prompt('greet', { name: 'Ada', style: 'formal' }))
    assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Write a formal greeting to Ada.' } }])
  })

  test('completes an argument', async () => {
    const { completion } = shapes.completed.parse(await client.completePrompt('greet', 'style', 'f'))
    assert.deepEqual(completion.values, ['formal'])
  })

  test('gets a tool’s “no”, a tool’s fault and wrong arguments as results', async () => {
    for (const [name, args, text] of [
      ['fail', {}, /^refused by the tool$/],
      ['boom', {}, /widget 7 is broken/],
      ['add', { a: 'two', b: 1 }, /\ba\b/],
    ] as const) {
      const { isError, content } = await call(name, args)
      assert.equal(isError, true, name)
      assert.match(content[0]?.text ?? '', text)
    }
  })

  test('gets errors with their codes', async () => {
    await assert.rejects(client.call('nope', {}), coded(-32602))
    await assert.rejects(client.call('hidden', {}), coded(-32602))
    await assert.rejects(client.call('cyclic', {}), coded(-32603))
    await assert.rejects(client.read('memo://nope'), coded(expected.unknownResource))
    await assert.rejects(client.read('memo://broken'), coded(-32603))
    await assert.rejects(client.prompt('nope', {}), coded(-32602))
    await assert.rejects(client.prompt('greet', {}), coded(-32602))
  })
}

function coded(code: number): (error: unknown) => boolean {
  return (error) => {
    assert.equal(shapes.error.parse(error).code, code)
    return true
  }
}
