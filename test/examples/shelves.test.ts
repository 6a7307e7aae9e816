// The page of shelves: what hosts get, what everybody else gets, and what the page does with it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { openDatabase } from '../../examples/library/database.ts'
import { createLibrary } from '../../examples/library/library.ts'
import { createLibraryServer } from '../../examples/library/server.ts'
import { createShelvesApp } from '../../examples/library/shelves.ts'
import { appsIdentifier, viewMimeType } from '../../src/apps.ts'
import type { JsonObject } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'

const host = { extensions: { [appsIdentifier]: { mimeTypes: [viewMimeType] } } }

async function visit(capabilities: JsonObject) {
  const library = createLibrary(openDatabase(':memory:'))
  library.lend(5200, 'Ada', 7)
  const server = createLibraryServer(library).use(createShelvesApp(library))
  return { library, client: await testClient(server, { capabilities }) }
}

test('a host gets the tool with its view, the page, and the tool of its button', async () => {
  const { client } = await visit(host)
  const tools = (await client.request('tools/list')).result?.['tools'] as { name: string; _meta?: { ui: object } }[]
  assert.deepEqual(
    tools.slice(-2).map(({ name, _meta }) => [name, _meta?.ui]),
    [
      ['show_shelves', { resourceUri: 'ui://library/shelves' }],
      ['count_shelves', { visibility: ['app'] }],
    ],
  )
  const { contents } = (await client.request('resources/read', { uri: 'ui://library/shelves' })).result as {
    contents: { mimeType: string; text: string }[]
  }
  assert.equal(contents[0]?.mimeType, viewMimeType)
  assert.equal(contents[0].text, readFileSync('examples/library/shelves.html', 'utf8'))
})

test('others get the same as text, and no button', async () => {
  const { client } = await visit({})
  const { content } = (await client.request('tools/call', { name: 'show_shelves' })).result as {
    content: { text: string }[]
  }
  assert.match(content[0]?.text ?? '', /^German: 2 of 3 in$/m)
  const tools = (await client.request('tools/list')).result?.['tools'] as { name: string }[]
  assert.ok(!tools.some(({ name }) => name === 'count_shelves'))
})

/** As much of an element as the page uses. */
class Element {
  textContent = ''
  readonly children: Element[] = []
  readonly listeners = new Map<string, () => void>()
  append(child: Element): void {
    this.children.push(child)
  }
  replaceChildren(...children: Element[]): void {
    this.children.splice(0, Infinity, ...children)
  }
  addEventListener(name: string, listener: () => void): void {
    this.listeners.set(name, listener)
  }
  rows(): string[] {
    return this.children.map(({ children }) =>
      children
        .map(({ textContent }) => textContent)
        .join(' ')
        .trim(),
    )
  }
}

test('the page shakes hands, shows what the tool gave, and counts again', async () => {
  const { client, library } = await visit(host)
  const script = /<script>([\s\S]*)<\/script>/.exec(readFileSync('examples/library/shelves.html', 'utf8'))?.[1] ?? ''
  const elements = { rows: new Element(), note: new Element(), again: new Element() }
  const sent: JsonObject[] = []
  const parent = { postMessage: (message: JsonObject) => void sent.push(message) }
  let deliver = (_event: { source: object; data: JsonObject }): void => {}
  runInNewContext(script, {
    parent,
    document: { getElementById: (id: keyof typeof elements) => elements[id], createElement: () => new Element() },
    addEventListener: (_name: string, listener: typeof deliver) => (deliver = listener),
  })
  const say = async (data: JsonObject, source: object = parent): Promise<void> => {
    deliver({ source, data: { jsonrpc: '2.0', ...data } })
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(sent[0]?.['method'], 'ui/initialize')
  await say({ id: sent[0]['id'] ?? null, result: {} })
  assert.equal(sent[1]?.['method'], 'ui/notifications/initialized')

  const shown = (await client.request('tools/call', { name: 'show_shelves' })).result ?? {}
  await say({ method: 'ui/notifications/tool-result', params: shown }, {})
  assert.deepEqual(elements.rows.rows(), [], 'only its host is listened to')
  await say({ method: 'ui/notifications/tool-result', params: shown })
  assert.ok(elements.rows.rows().includes('German 3 1 0'))
  assert.equal(elements.note.textContent, '46 of 47 books are in.')

  library.takeBack(5200)
  elements.again.listeners.get('click')?.()
  const { id, method, params } = sent[2] as { id: number; method: string; params: JsonObject }
  assert.equal(method, 'tools/call')
  await say({ id, result: (await client.request(method, params)).result ?? {} })
  assert.ok(elements.rows.rows().includes('German 3 0 0'))
  assert.equal(elements.note.textContent, '47 of 47 books are in.')

  await say({ id: 'bye', method: 'ui/resource-teardown', params: {} })
  assert.deepEqual(JSON.parse(JSON.stringify(sent[3])), { jsonrpc: '2.0', id: 'bye', result: {} })
})
