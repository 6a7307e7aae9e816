// Skills (io.modelcontextprotocol/skills): entries as the extension wants them, files that fit their digests, directories,
// and folders that are refused.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { readFrontmatter } from '../../src/extension/frontmatter.ts'
import { createServer } from '../../src/index.ts'
import { skills, skillsIdentifier, type SkillsOptions } from '../../src/skills.ts'
import { testClient, type TestClient } from '../../src/testing.ts'

type Files = Readonly<Record<string, string | Uint8Array>>
interface Entry {
  readonly uri: string
  readonly frontmatter: { readonly name: string }
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[]
}

const made: string[] = []
after(() => made.forEach((folder) => rmSync(folder, { recursive: true })))

function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'skills-'))
  made.push(folder)
  write(folder, files)
  return folder
}

function write(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

function skill(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n\n# ${name}\n`
}

const shop: Files = {
  'README.md': 'belongs to no skill',
  'acme/refunds/SKILL.md': skill('refunds', 'metadata:\n  since: 2026-01-02\n  ratio: 1.5\n'),
  'acme/refunds/.git/config': 'hidden',
  'acme/refunds/data/pixel.png': new Uint8Array([0x89, 0x50, 0xff, 0]),
  'acme/refunds/data/more/notes': 'plain',
  'acme/refunds/inner/SKILL.md': skill('inner'),
  'review/SKILL.md': skill('review'),
  'review/ü b.md': 'umlaut',
}

async function serve(files: Files, options?: SkillsOptions, principal?: { id: string; scopes: Set<string> }) {
  const folder = folderOf(files)
  const extension = skills(folder, options)
  const server = createServer({ name: 'shop', version: '1', extensions: [extension] })
  const client = await testClient(server, principal ? { principal } : {})
  return { folder, extension, server, client }
}

async function ask(client: TestClient, method: string, params: object = {}): Promise<Record<string, unknown>> {
  const { result, error } = await client.request(method, params as never)
  assert.ok(result, JSON.stringify(error))
  return result
}

async function entries(client: TestClient): Promise<readonly Entry[]> {
  return (await ask(client, 'skills/list'))['skills'] as readonly Entry[]
}

test('the extension and resources are declared, and the methods are there for clients that declare nothing', async () => {
  const { client } = await serve(shop)
  const { capabilities } = (await ask(client, 'server/discover')) as { capabilities: Record<string, unknown> }
  assert.deepEqual(capabilities['extensions'], { [skillsIdentifier]: { directoryRead: true } })
  assert.ok(capabilities['resources'])
  const { resultType, ttlMs, cacheScope, nextCursor } = await ask(client, 'skills/list')
  assert.deepEqual([resultType, ttlMs, cacheScope, nextCursor], ['complete', 0, 'public', undefined])
})

test('an entry has the frontmatter as it was written, and every file once with its digest and size', async () => {
  const { client } = await serve(shop)
  const listed = await entries(client)
  assert.deepEqual(
    listed.map(({ uri }) => uri),
    ['skill://acme/refunds/SKILL.md', 'skill://acme/refunds/inner/SKILL.md', 'skill://review/SKILL.md'],
  )
  const [refunds, , review] = listed
  assert.deepEqual(refunds?.frontmatter, {
    name: 'refunds',
    description: 'Does refunds',
    metadata: { since: '2026-01-02', ratio: 1.5 },
  })
  assert.deepEqual(
    refunds?.resources.map(({ uri }) => uri),
    [
      'skill://acme/refunds/SKILL.md',
      'skill://acme/refunds/data/more/notes',
      'skill://acme/refunds/data/pixel.png',
      'skill://acme/refunds/inner/SKILL.md',
    ],
  )
  assert.equal(review?.resources[0]?.uri, 'skill://review/%C3%BC%20b.md')
})

test('every file can be read, and what is read fits the digest and the size', async () => {
  const { client } = await serve(shop)
  let read = 0
  for (const { resources } of await entries(client))
    for (const { uri, digest, size } of resources) {
      const { contents } = await ask(client, 'resources/read', { uri })
      const [content] = contents as { text?: string; blob?: string; mimeType: string }[]
      const bytes = Buffer.from(content?.text ?? content?.blob ?? '', content?.text === undefined ? 'base64' : 'utf8')
      assert.equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, digest, uri)
      assert.equal(bytes.length, size, uri)
      if (uri.endsWith('/SKILL.md')) assert.equal(content?.mimeType, 'text/markdown')
      read += 1
    }
  assert.equal(read, 7)
})

test('a SKILL.md is listed as a resource by what it says of itself; what belongs to no skill is not', async () => {
  const { client } = await serve(shop)
  const { resources } = (await ask(client, 'resources/list')) as { resources: { uri: string }[] }
  assert.deepEqual(
    resources.find(({ uri }) => uri === 'skill://review/SKILL.md'),
    {
      uri: 'skill://review/SKILL.md',
      name: 'review',
      description: 'Does review',
      mimeType: 'text/markdown',
      size: Buffer.byteLength(skill('review')),
    },
  )
  assert.equal(resources.length, 6)
  assert.ok(resources.every(({ uri }) => uri.startsWith('skill://') && !uri.includes('.git')))
})

test('skills/get tells one entry, as the list does; anything else is -32602', async () => {
  const { client } = await serve(shop)
  for (const entry of await entries(client)) {
    const { skill: got, nextCursor, ttlMs, cacheScope } = await ask(client, 'skills/get', { uri: entry.uri })
    assert.deepEqual([got, nextCursor, ttlMs, cacheScope], [entry, undefined, 0, 'public'])
  }
  for (const uri of ['skill://no/SKILL.md', 'skill://review', 'skill://review/../review/SKILL.md', '', 7, undefined])
    assert.equal((await client.request('skills/get', { uri })).error?.code, -32602, String(uri))
})

test('a list goes over pages, whose entries come once; a cursor that is none is refused', async () => {
  const { client } = await serve(shop, { pageSize: 1 })
  const seen: string[] = []
  let cursor: unknown
  do {
    const page = await ask(client, 'skills/list', cursor === undefined ? {} : { cursor })
    const listed = page['skills'] as readonly Entry[]
    assert.equal(listed.length, 1)
    seen.push(...listed.map(({ uri }) => uri))
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  assert.equal(new Set(seen).size, 3)
  assert.equal((await client.request('skills/list', { cursor: 'nope' })).error?.code, -32602)
  assert.equal((await client.request('skills/list', { cursor: 3 })).error?.code, -32602)
})

test('a directory tells its direct children; the way down leads to every file', async () => {
  const { client } = await serve(shop, { pageSize: 2 })
  const found: string[] = []
  async function descend(uri: string): Promise<void> {
    let cursor: unknown
    do {
      const page = await ask(client, 'resources/directory/read', cursor === undefined ? { uri } : { uri, cursor })
      for (const child of page['resources'] as { uri: string; mimeType: string; name: string }[]) {
        assert.equal(child.uri, `${uri}/${child.uri.slice(uri.length + 1)}`)
        assert.ok(!child.uri.slice(uri.length + 1).includes('/'))
        if (child.mimeType === 'inode/directory') await descend(child.uri)
        else found.push(child.uri)
      }
      cursor = page['nextCursor']
    } while (cursor !== undefined)
  }
  await descend('skill://acme')
  await descend('skill://review')
  assert.equal(found.length, 6)
  for (const uri of [
    'skill://acme/',
    'skill://acme/..',
    'skill://review/SKILL.md',
    'skill://none',
    'skill://',
    'file:///etc',
  ])
    assert.equal((await client.request('resources/directory/read', { uri })).error?.code, -32602, uri)
})

test('with scopes, whoever lacks them sees none of it, as if there were nothing', async () => {
  const nobody = (await serve(shop, { scopes: ['staff'] })).client
  assert.deepEqual(await entries(nobody), [])
  const uri = 'skill://review/SKILL.md'
  const hidden = await nobody.request('skills/get', { uri })
  assert.deepEqual(hidden.error, (await nobody.request('skills/get', { uri: 'skill://no/SKILL.md' })).error)
  assert.equal((await nobody.request('resources/directory/read', { uri: 'skill://review' })).error?.code, -32602)
  const bare = await testClient(createServer({ name: 'bare', version: '1' }))
  const [read, unread] = [
    await nobody.request('resources/read', { uri }),
    await bare.request('resources/read', { uri }),
  ]
  assert.equal(read.error?.code, -32601)
  assert.deepEqual(read.error, unread.error)
  const { client } = await serve(shop, { scopes: ['staff'] }, { id: 'ada', scopes: new Set(['staff']) })
  assert.equal((await entries(client)).length, 3)
  assert.equal((await ask(client, 'skills/list'))['cacheScope'], 'private')
})

test('what happens on the disk is served after a reload, of which clients are told', async () => {
  const { folder, extension, client } = await serve(shop)
  void client.request('subscriptions/listen', {
    notifications: { resourcesListChanged: true, resourceSubscriptions: ['skill://review/SKILL.md'] },
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  rmSync(join(folder, 'acme'), { recursive: true })
  write(folder, { 'review/SKILL.md': skill('review', 'license: MIT\n'), 'review/new.md': 'new' })
  assert.equal((await entries(client)).length, 3)
  extension.reload()
  const [review, ...others] = await entries(client)
  assert.deepEqual(others, [])
  assert.deepEqual(
    review?.resources.map(({ uri }) => uri.slice('skill://review/'.length)),
    ['%C3%BC%20b.md', 'SKILL.md', 'new.md'],
  )
  assert.match(JSON.stringify(await ask(client, 'resources/read', { uri: 'skill://review/SKILL.md' })), /license: MIT/)
  assert.equal((await client.request('resources/read', { uri: 'skill://acme/refunds/SKILL.md' })).error?.code, -32602)
  const told = new Set(client.heard.map(({ method }) => method))
  assert.ok(told.has('notifications/resources/list_changed') && told.has('notifications/resources/updated'))
  write(folder, { 'review/SKILL.md': 'broken' })
  assert.throws(() => extension.reload(), /review\/SKILL\.md: it does not begin with frontmatter/)
  assert.equal((await entries(client)).length, 1)
})

const refused: readonly (readonly [string, Files, RegExp])[] = [
  ['a skill without frontmatter', { 'a/SKILL.md': '# a' }, /a\/SKILL\.md: it does not begin with frontmatter/],
  ['frontmatter that is no YAML', { 'a/SKILL.md': '---\nname: [\n---\n' }, /no YAML/],
  ['a key that stands twice', { 'a/SKILL.md': '---\nname: a\nname: a\ndescription: d\n---\n' }, /no YAML/],
  ['frontmatter that is a list', { 'a/SKILL.md': '---\n- a\n---\n' }, /no JSON object/],
  ['a number that JSON lacks', { 'a/SKILL.md': skill('a', 'n: .inf\n') }, /no JSON object/],
  ['an unknown tag', { 'a/SKILL.md': skill('a', 'n: !!js/function "x"\n') }, /no YAML/],
  ['a name that is none', { 'A_b/SKILL.md': skill('A_b') }, /its name has to be/],
  ['a name that is not the directory', { 'b/SKILL.md': skill('a') }, /its name, a, is not that of its directory, b/],
  ['no description', { 'a/SKILL.md': '---\nname: a\n---\n' }, /its description has to be/],
  ['a skill in the folder itself', { 'SKILL.md': skill('a') }, /a directory of its own name/],
  ['a SKILL.md that is no UTF-8', { 'a/SKILL.md': new Uint8Array([0x2d, 0xff]) }, /no UTF-8/],
  [
    'more files than hosts have to take',
    { 'a/SKILL.md': skill('a'), ...Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`a/${n}`, ''])) },
    /at most 512 files/,
  ],
  [
    'more bytes than hosts have to take',
    { 'a/SKILL.md': skill('a'), 'a/big': new Uint8Array(16 * 1024 * 1024) },
    /at most 16777216 bytes/,
  ],
]
for (const [what, files, message] of refused)
  test(`refused at the start: ${what}`, () => {
    assert.throws(() => skills(folderOf(files)), message)
  })

test('a link is followed to a file of the folder, and nowhere else', async () => {
  const outside = folderOf({ 'secret.txt': 'secret' })
  const within = folderOf({ 'a/SKILL.md': skill('a'), 'shared.md': 'shared' })
  symlinkSync('../shared.md', join(within, 'a', 'link.md'))
  const client = await testClient(createServer({ name: 's', version: '1', extensions: [skills(within)] }))
  const [entry] = await entries(client)
  assert.equal(entry?.resources[1]?.uri, 'skill://a/link.md')
  symlinkSync(join(outside, 'secret.txt'), join(within, 'a', 'escape.md'))
  assert.throws(() => skills(within), /escape\.md: a link that leads out of the folder/)
  const looped = folderOf({ 'a/SKILL.md': skill('a') })
  symlinkSync('..', join(looped, 'a', 'up'))
  assert.throws(() => skills(looped), /up: a link/)
  assert.throws(() => skills(join(outside, 'absent')), /ENOENT/)
})

test('a few lines of YAML cannot become a gigabyte', () => {
  const levels = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join()}]`)
  const bomb = `---\nname: a\ndescription: d\nl0: &l0 [x]\n${levels.join('\n')}\n---\n`
  assert.throws(() => readFrontmatter(bomb), /alias/i)
})

test('frontmatter is read as JSON would have it, whatever its author wrote', () => {
  const value = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 2 },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('json'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).json
  fc.assert(
    fc.property(value, (metadata) => {
      // JSON is YAML.
      const text = `---\nname: a\ndescription: d\nmetadata: ${JSON.stringify(metadata)}\n---\n`
      assert.deepEqual(readFrontmatter(text)['metadata'], JSON.parse(JSON.stringify(metadata)))
    }),
    { numRuns: 300 },
  )
})
