import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCodecs, revisions } from '../../src/codec/registry.ts'
import { resolveFeatures } from '../../src/codec/profile.ts'
import { pretendRevision } from './pretend-revision.ts'

const codecs = createCodecs()
const newestFirst = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

test('all five revisions are there, newest first', () => {
  assert.deepEqual(codecs.supported, newestFirst)
  assert.deepEqual(
    codecs.all.map(({ revision }) => revision),
    newestFirst,
  )
  assert.equal(codecs.newest.revision, '2026-07-28')
  assert.equal(codecs.newestWithHandshake?.revision, '2025-11-25')
  assert.equal(codecs.get('2025-03-26')?.revision, '2025-03-26')
  for (const name of ['1999-01-01', '', '__proto__', 'constructor']) assert.equal(codecs.get(name), undefined)
})

test('a revision with a handshake is echoed, any other date countered, what is no date refused', () => {
  for (const revision of newestFirst.slice(1)) {
    assert.deepEqual(codecs.negotiate(revision), { codec: codecs.get(revision), echoed: true })
  }
  for (const date of ['2026-07-28', '2099-01-01', '2023-01-01', '2024-02-29']) {
    assert.deepEqual(codecs.negotiate(date), { codec: codecs.get('2025-11-25'), echoed: false })
  }
  const odd = [
    'latest',
    '',
    'DRAFT-2026-v1',
    '2025-13-01',
    '2025-02-29',
    '2025-11-25 ',
    '2025-11-25\n',
    ' 2025-11-25',
    '20251125',
    '2025-1-1',
  ]
  for (const value of [...odd, 5, null, undefined, {}, [], ['2025-11-25']])
    assert.equal(codecs.negotiate(value), undefined)
})

test('negotiation never throws and never agrees to what has no handshake', () => {
  fc.assert(
    fc.property(fc.anything(), (offered) => {
      assert.notEqual(codecs.negotiate(offered)?.codec.lifecycle, 'request')
    }),
  )
})

test('a version header tells the era by its date', () => {
  for (const date of ['2026-07-28', '2026-07-29', '2027-01-01'])
    assert.equal(codecs.isSelfContainedDate(date), true, date)
  for (const date of ['2026-07-27', '2025-11-25', '2027-01-32', 'zzzz', '', '2026-07-28x']) {
    assert.equal(codecs.isSelfContainedDate(date), false, date)
  }
})

test('a pinned registry serves what it is pinned to and still knows the rest', () => {
  const legacy = codecs.pin(['2025-03-26', '2025-11-25'])
  assert.deepEqual(legacy.supported, ['2025-11-25', '2025-03-26'])
  assert.equal(legacy.get('2025-06-18'), undefined)
  assert.equal(legacy.negotiate('2025-06-18')?.codec.revision, '2025-11-25')
  assert.equal(legacy.isSelfContainedDate('2026-07-28'), false)
  assert.equal(legacy.knows('subscriptions/listen'), true)
  assert.equal(legacy.knows('acme/anything'), false)

  const modern = codecs.pin(['2026-07-28'])
  assert.equal(modern.newestWithHandshake, undefined)
  assert.equal(modern.negotiate('2025-11-25'), undefined)
  assert.equal(modern.isSelfContainedDate('2031-01-01'), true)

  assert.throws(() => codecs.pin(['2019-01-01']), TypeError)
  assert.throws(() => codecs.pin([]), TypeError)
})

test('a new revision is one file: negotiated, resolved and projected through the registry', () => {
  const next = createCodecs([...revisions(), pretendRevision])
  assert.equal(next.newest.revision, '2027-01-15')
  assert.equal(next.isSelfContainedDate('2027-01-15'), true)
  assert.equal(next.negotiate('2027-01-15')?.codec.revision, '2025-11-25')
  assert.equal(next.knows('tools/estimate'), true)

  const estimate = next.newest.requests.get('tools/estimate')
  assert.equal(estimate?.check({}), 'MalformedParams')
  assert.equal(estimate?.check({ name: 'a' }), undefined)
  assert.equal(estimate?.needs, 'estimates')
  for (const codec of next.all.slice(1)) assert.equal(codec.requests.has('tools/estimate'), false)

  const features = (serverCapabilities: { estimates?: object }): ReadonlySet<string> =>
    resolveFeatures({
      codec: next.newest,
      clientCapabilities: {},
      serverCapabilities: { ...serverCapabilities },
      transport: 'http',
    } as Parameters<typeof resolveFeatures>[0])
  assert.equal(features({ estimates: {} }).has('estimates'), true)
  assert.equal(features({}).has('estimates'), false)
  assert.equal(features({}).has('tool.price'), true)
})

test('what a newer revision added is left out for all older ones, and what nobody defines is carried', () => {
  const next = createCodecs([...revisions(), pretendRevision])
  const tool = { name: 'a', inputSchema: { type: 'object' }, price: { amount: 5, currency: 'EUR' }, 'x-vendor': 1 }
  for (const codec of next.all) {
    const reported: string[] = []
    const { tools } = codec.requests
      .get('tools/list')!
      .result.encode({ tools: [tool] }, (rule, path) => reported.push(`${rule} ${path}`))
    const newest = codec === next.newest
    const { price: _, ...older } = tool
    assert.deepEqual(tools, [newest ? tool : older], codec.revision)
    assert.deepEqual(reported, newest ? [] : ['field-dropped Tool.price'])
  }
  // The same tool through a registry that has never heard of the field.
  for (const codec of codecs.all) {
    const { tools } = codec.requests.get('tools/list')!.result.encode({ tools: [tool] }, assert.fail)
    assert.deepEqual(tools, [tool])
  }
})

test('a kind of content that only a newer revision has becomes a line of text', () => {
  const next = createCodecs([...revisions(), pretendRevision])
  const result = { content: [{ type: 'video', data: 'AAAA', mimeType: 'video/mp4' }] }
  for (const codec of next.all.slice(1)) {
    const reported: string[] = []
    const { content } = codec.requests.get('tools/call')!.result.encode(result, (rule) => reported.push(rule))
    assert.deepEqual([content, reported], [[{ type: 'text', text: '[video]' }], ['kind-to-text']], codec.revision)
  }
})

test('a delta that drops what was never there is refused', async () => {
  const { extend } = await import('../../src/codec/define.ts')
  assert.throws(
    () => extend(pretendRevision, { revision: '2028-01-01', requests: { drops: ['tools/steal'] } }),
    /tools\/steal/,
  )
  assert.throws(
    () => extend(pretendRevision, { revision: '2028-01-01', nouns: { drops: { Tool: ['wings'] } } }),
    /wings/,
  )
})
