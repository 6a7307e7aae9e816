// MCP Apps on both eras: what hosts that show views get, and what everybody else does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { apps, appsIdentifier, appTool, canShowViews, view, viewMimeType } from '../../src/apps.ts'
import { result, tool } from '../../src/index.ts'
import type { TestClient } from '../../src/testing.ts'
import { clientOf, eras, revisions, serverOf, textOf } from '../server/support.ts'

const host = { extensions: { [appsIdentifier]: { mimeTypes: [viewMimeType] } } }
const picture = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const

const board = view(
  'ui://shop/board',
  {
    name: 'board',
    description: 'The board',
    ui: {
      csp: { connectDomains: ['https://api.example.com'] },
      permissions: { clipboardWrite: {} },
      prefersBorder: true,
    },
  },
  '<!doctype html><title>Board</title>',
)
const total = z.object({ total: z.number() })

const shop = () =>
  serverOf({
    pageSize: 2,
    cache: { tools: { ttlMs: 60_000, cacheScope: 'public' } },
    tools: [tool('plain', {}, (_, ctx) => (canShowViews(ctx) ? 'shown' : 'told'))],
    extensions: [
      apps({
        views: [board],
        tools: [
          appTool(
            tool('sum', { output: total, _meta: { other: 1 } }, () => ({ total: 3 })),
            { view: board },
          ),
          appTool(
            tool('chart', { output: total }, () => result({ structuredContent: { total: 4 }, content: [picture] })),
            { view: board, visibility: ['model'] },
          ),
          appTool(
            tool('refresh', {}, () => 'fresh'),
            { view: 'ui://shop/board', visibility: ['app'] },
          ),
          appTool(
            tool('draw', {}, () => picture),
            { view: board, visibility: ['model', 'app'] },
          ),
        ],
      }),
    ],
  })

async function toolsOf(client: TestClient) {
  const tools: { name: string; _meta?: { ui?: object } }[] = []
  let cursor: string | undefined
  do {
    const { result: page } = await client.request('tools/list', cursor === undefined ? {} : { cursor })
    assert.equal(page?.['cacheScope'] ?? 'private', 'private')
    tools.push(...(page?.['tools'] as typeof tools))
    cursor = page?.['nextCursor'] as string | undefined
  } while (cursor !== undefined)
  return tools
}

for (const revision of eras) {
  test(`${revision}: a host sees every tool with its view and who may use it`, async () => {
    const client = await clientOf(shop(), { revision, capabilities: host })
    const tools = await toolsOf(client)
    assert.deepEqual(
      tools.map(({ name, _meta }) => [name, _meta?.ui]),
      [
        ['plain', undefined],
        ['sum', { resourceUri: 'ui://shop/board' }],
        ['chart', { resourceUri: 'ui://shop/board', visibility: ['model'] }],
        ['refresh', { resourceUri: 'ui://shop/board', visibility: ['app'] }],
        ['draw', { resourceUri: 'ui://shop/board', visibility: ['model', 'app'] }],
      ],
    )
    assert.deepEqual(tools[1]?._meta, { other: 1, ui: { resourceUri: 'ui://shop/board' } })
    assert.equal(textOf(await client.request('tools/call', { name: 'refresh' })), 'fresh')
    assert.equal(textOf(await client.request('tools/call', { name: 'plain' })), 'shown')
  })

  test(`${revision}: others neither see nor call what is for views alone, and are told what they lack`, async () => {
    const client = await clientOf(shop(), { revision })
    assert.deepEqual(
      (await toolsOf(client)).map(({ name }) => name),
      ['plain', 'sum', 'chart', 'draw'],
    )
    const { error } = await client.request('tools/call', { name: 'refresh' })
    assert.equal(error?.code, revision === '2026-07-28' ? -32021 : -32603)
    assert.deepEqual(error.data, { requiredCapabilities: { extensions: { [appsIdentifier]: {} } } })
    assert.equal(textOf(await client.request('tools/call', { name: 'plain' })), 'told')
  })

  test(`${revision}: the server declares the extension, and the view is a resource with its settings`, async () => {
    const client = await clientOf(shop(), { revision, capabilities: host })
    const introduction = client.introduction ?? (await client.request('server/discover')).result
    const { extensions } = introduction?.['capabilities'] as { extensions: object }
    assert.deepEqual(extensions, { [appsIdentifier]: {} })
    const ui = {
      csp: { connectDomains: ['https://api.example.com'] },
      permissions: { clipboardWrite: {} },
      prefersBorder: true,
    }
    const [listed] = (await client.request('resources/list')).result?.['resources'] as object[]
    assert.deepEqual(listed, {
      uri: board.uri,
      name: 'board',
      description: 'The board',
      mimeType: viewMimeType,
      _meta: { ui },
    })
    const { contents } = (await client.request('resources/read', { uri: board.uri })).result ?? {}
    assert.deepEqual(contents, [
      { uri: board.uri, mimeType: viewMimeType, text: '<!doctype html><title>Board</title>', _meta: { ui } },
    ])
  })
}

for (const revision of revisions)
  test(`${revision}: every result of a tool with a view has text, host or not`, async () => {
    for (const capabilities of [host, {}]) {
      const client = await clientOf(shop(), { revision, capabilities })
      const texts = async (name: string) => {
        const { content } = (await client.request('tools/call', { name })).result as { content: { text?: string }[] }
        return content.map(({ text }) => text).filter((text) => text !== undefined)
      }
      assert.deepEqual(await texts('sum'), ['{"total":3}'])
      assert.deepEqual(await texts('chart'), ['{"total":4}'])
      assert.deepEqual(await texts('draw'), ['Done. There is nothing to read.'])
    }
  })

test('a view may be made anew for each reader', async () => {
  const live = view('ui://live', { name: 'live' }, async (ctx) => `<!doctype html><p>${ctx.revision}</p>`)
  const client = await clientOf(serverOf({ extensions: [apps({ views: [live], tools: [] })] }))
  const { contents } = (await client.request('resources/read', { uri: 'ui://live' })).result ?? {}
  assert.deepEqual(contents, [{ uri: 'ui://live', mimeType: viewMimeType, text: '<!doctype html><p>2026-07-28</p>' }])
})

test('a tool that is not part of an app is left as it is, and so is the value that was given', () => {
  const before = tool('sum', { _meta: { ui: { csp: 1 } } }, () => '')
  const after = appTool(before, { visibility: ['app'] })
  assert.deepEqual(before.config, { _meta: { ui: { csp: 1 } } })
  assert.deepEqual(after.config._meta, { ui: { csp: 1, visibility: ['app'] } })
})

test('a view has a URI of its own kind, and a tool names one that is there', () => {
  assert.throws(() => view('https://example.com', { name: 'no' }, ''), /"https:\/\/example.com" is the URI of no view/)
  const lost = appTool(
    tool('lost', {}, () => ''),
    { view: 'ui://nowhere' },
  )
  assert.throws(
    () => apps({ views: [board], tools: [lost] }),
    /tool "lost": its view "ui:\/\/nowhere" is not among the views/,
  )
})

test('the extension is put to use once', () => {
  const extension = apps({ views: [board], tools: [] })
  assert.throws(() => serverOf().use(extension).use(extension), /in use already/)
})
