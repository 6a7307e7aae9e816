import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { maxUriLength, parseTemplate, type TemplateInput } from '../../src/server/uri-template.ts'

/** What matching found, with an ordinary prototype so that it compares with a literal. */
function match(template: string, uri: string): object | undefined {
  const found = parseTemplate(template).match(uri)
  return found && { ...found }
}

/** RFC 6570, section 3.2: the variables its examples share. */
const values = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
} satisfies Record<string, TemplateInput>

const examples: readonly (readonly [string, string])[] = [
  ['{count}', 'one,two,three'],
  ['{/count*}', '/one/two/three'],
  ['{;count*}', ';count=one;count=two;count=three'],
  ['{?count}', '?count=one,two,three'],
  ['{?count*}', '?count=one&count=two&count=three'],
  ['{var}', 'value'],
  ['{hello}', 'Hello%20World%21'],
  ['{half}', '50%25'],
  ['O{empty}X', 'OX'],
  ['O{undef}X', 'OX'],
  ['{x,hello,y}', '1024,Hello%20World%21,768'],
  ['?{x,empty}', '?1024,'],
  ['?{undef,y}', '?768'],
  ['{var:3}', 'val'],
  ['{keys}', 'semi,%3B,dot,.,comma,%2C'],
  ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
  ['{+hello}', 'Hello%20World!'],
  ['{+half}', '50%25'],
  ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
  ['{+base}index', 'http://example.com/home/index'],
  ['up{+path}{var}/here', 'up/foo/barvalue/here'],
  ['{+path:6}here', '/foo/bhere'],
  ['{+keys*}', 'semi=;,dot=.,comma=,'],
  ['{#path,x}/here', '#/foo/bar,1024/here'],
  ['{#keys}', '#semi,;,dot,.,comma,,'],
  ['{.who,who}', '.fred.fred'],
  ['www{.dom*}', 'www.example.com'],
  ['X{.empty_keys}', 'X'],
  ['{/var,empty}', '/value/'],
  ['{/var:1,var}', '/v/value'],
  ['{/list*,path:4}', '/red/green/blue/%2Ffoo'],
  ['{;x,y,empty}', ';x=1024;y=768;empty'],
  ['{;v,empty,who}', ';v=6;empty;who=fred'],
  ['{;keys}', ';keys=semi,%3B,dot,.,comma,%2C'],
  ['{?x,y,empty}', '?x=1024&y=768&empty='],
  ['{?var:3}', '?var=val'],
  ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
  ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
  ['{&x,y,empty}', '&x=1024&y=768&empty='],
]

test('expands as the examples of RFC 6570 do', () => {
  for (const [template, expected] of examples) assert.equal(parseTemplate(template).expand(values), expected, template)
})

test('names its variables once and weighs its literals', () => {
  const template = parseTemplate('note://{owner}/{id}{?owner,page}')
  assert.deepEqual(template.variables, ['owner', 'id', 'page'])
  assert.equal(template.specificity, 'note:///'.length)
  assert.ok(parseTemplate('note://pinned/{id}').specificity > parseTemplate('note://{owner}/{id}').specificity)
})

test('refuses what is no template, and says why', () => {
  for (const [text, reason] of [
    ['a{b', '"{" without "}"'],
    ['a}b', '"}" without "{"'],
    ['{}', '"" is no variable'],
    ['{a b}', '"a b" is no variable'],
    ['{a,}', '"" is no variable'],
    ['{a:0}', '"a:0" is no variable'],
    ['{a*:3}', '"a*:3" is no variable'],
    ['{|a}', 'the operator "|" is reserved'],
    ['{{a}}', '"{a" is no variable'],
  ])
    assert.throws(() => parseTemplate(text ?? ''), new Error(`URI template ${text}: ${reason}`))
})

test('matches simple variables up to the delimiters of a URI', () => {
  assert.deepEqual(match('note://{id}', 'note://7'), { id: '7' })
  assert.deepEqual(match('note://{id}', 'note://a%20b%2Fc'), { id: 'a b/c' })
  assert.deepEqual(match('note://{id}', 'note://żółć'), { id: 'żółć' })
  for (const uri of ['note://', 'note://a/b', 'note://a?b', 'note://a#b', 'memo://a', 'note:/', '', 'xnote://a'])
    assert.equal(match('note://{id}', uri), undefined, uri)
  assert.deepEqual(match('geo:{lat,lon}', 'geo:52.2,21.0'), { lat: '52.2', lon: '21.0' })
  assert.deepEqual(match('f/{name}.{ext}', 'f/archive.tar.gz'), { name: 'archive.tar', ext: 'gz' })
})

test('matches the other operators', () => {
  assert.deepEqual(match('file:///{+path}', 'file:///a/b.txt?c#d'), { path: 'a/b.txt?c#d' })
  assert.deepEqual(match('{+path}{/last}', 'a/b/c'), { path: 'a/b', last: 'c' })
  assert.deepEqual(match('page{#part}', 'page#a/b'), { part: 'a/b' })
  assert.deepEqual(match('page{#part}', 'page'), {})
  assert.deepEqual(match('{name}{.ext}', 'a.tar.gz'), { name: 'a.tar', ext: 'gz' })
  assert.deepEqual(match('{name}{.ext}', 'a'), { name: 'a' })
  assert.deepEqual(match('tree{/path*}', 'tree/a/b%2Fc/d'), { path: ['a', 'b/c', 'd'] })
  assert.deepEqual(match('tree{/path*}/end', 'tree/a/end/end'), { path: ['a', 'end'] })
  assert.deepEqual(match('tree{/one}', 'tree/a/b'), undefined)
  assert.deepEqual(match('{/a}{/b}', '/x'), { a: 'x' })
  assert.deepEqual(match('m{;x,y}', 'm;y=2;x'), { x: '', y: '2' })
})

test('matches queries in any order, with parameters missing', () => {
  const template = 'search://{index}{?q,tags*,page}'
  assert.deepEqual(match(template, 'search://books?page=2&q=a%26b%3D'), { index: 'books', q: 'a&b=', page: '2' })
  assert.deepEqual(match(template, 'search://books?tags=x&q=&tags=y'), { index: 'books', q: '', tags: ['x', 'y'] })
  assert.deepEqual(match(template, 'search://books'), { index: 'books' })
  assert.equal(match(template, 'search://books?q=1&q=2'), undefined)
  assert.equal(match(template, 'search://books?other=1'), undefined)
  assert.deepEqual(match('{?a}{&b}', '?b=2&a=1'), { a: '1', b: '2' })
  assert.deepEqual(match('l?fixed=yes{&x}', 'l?fixed=yes&x=1'), { x: '1' })
})

test('takes one value for a variable that stands twice', () => {
  assert.deepEqual(match('{/user:1,user}', '/f/fred'), { user: 'fred' })
  assert.equal(match('{/user:1,user}', '/g/fred'), undefined)
  assert.deepEqual(match('{a}/{a}', 'x/x'), { a: 'x' })
  assert.equal(match('{a}/{a}', 'x/xy'), undefined)
  assert.equal(match('{a:2}', 'xyz'), undefined)
})

test('does not match what cannot be decoded or is too long', () => {
  for (const id of ['%', '%zz', '%ff', '\ud800']) assert.equal(match('note://{id}', `note://${id}`), undefined, id)
  assert.notEqual(match('{id}', 'x'.repeat(maxUriLength)), undefined)
  assert.equal(match('{id}', 'x'.repeat(maxUriLength + 1)), undefined)
})

test('keeps names such as __proto__ to itself', () => {
  const template = parseTemplate('p://{__proto__}/{constructor}')
  const found = template.match('p://a/b') ?? assert.fail('no match')
  assert.deepEqual(Object.entries(found), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ])
  assert.equal(Object.getPrototypeOf(found), null)
  assert.equal(template.expand({}), 'p:///')
  assert.equal(parseTemplate('p://{id}').match('p://x')?.['toString'], undefined)
})

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
const plain = fc.stringMatching(/^[a-z0-9]{1,8}$/)

test('law: matching gives back what was expanded', () => {
  const literal = fc.constantFrom('x://', '/', '/é/', '-', 'a b')
  fc.assert(
    fc.property(
      literal,
      text,
      text,
      fc.option(text, { nil: undefined }),
      fc.array(text, { minLength: 1 }),
      (between, a, b, q, list) => {
        const template = parseTemplate(`s:/{a,b}/${between}/{b}{/list*}{?q,list*}`)
        const given = { a, b, list, ...(q === undefined ? {} : { q }) }
        assert.deepEqual({ ...template.match(template.expand(given)) }, given)
      },
    ),
  )
})

test('law: every operator gives back plain text', () => {
  fc.assert(
    fc.property(fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&'), plain, plain, (operator, a, b) => {
      const template = parseTemplate(`t:${operator === '' ? '/' : ''}{${operator}a,b}`)
      assert.deepEqual({ ...template.match(template.expand({ a, b })) }, { a, b })
    }),
  )
})

test('law: matching any text against any template never throws', () => {
  const pieces = fc.constantFrom(
    '{a}',
    '{+b}',
    '{#c}',
    '{.d*}',
    '{/e,f}',
    '{;g}',
    '{?h*,i}',
    '{&j}',
    '{k:2}',
    '/',
    'x',
    '-',
  )
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 6 }),
      fc.string({ unit: fc.constantFrom(...Array.from('ax/?#&=;.,-%2\ud800é')) }),
      (parts, uri) => {
        const found = parseTemplate(parts.join('')).match(uri)
        assert.ok(found === undefined || Object.getPrototypeOf(found) === null)
      },
    ),
  )
})

test('takes milliseconds for whatever a peer may send', () => {
  const hostile: readonly (readonly [string, string])[] = [
    ['{a}{b}{c}{d}{e}{f}{g}{h}/x', 'a'.repeat(maxUriLength)],
    ['{+a}-{+b}-{+c}-{+d}!', '-'.repeat(maxUriLength)],
    ['{/a*}{/b*}{/c*}{/d*}!', '/'.repeat(maxUriLength)],
    ['{?q*}', `?${'q&'.repeat(maxUriLength / 2 - 1)}`],
    ['{?q}', `?q=${'='.repeat(maxUriLength - 3)}`],
    ['{;p*}!', ';p'.repeat(maxUriLength / 2)],
    ['{x:9999}', '%41'.repeat(maxUriLength / 3)],
    ['note://{id}', 'note://' + 'a'.repeat(100_000)],
    ['{+a}{+b}{+c}!', 'a/'.repeat(50_000)],
  ]
  for (const [template, uri] of hostile) {
    const parsed = parseTemplate(template)
    parsed.match(uri)
    const started = performance.now()
    parsed.match(uri)
    const took = performance.now() - started
    assert.ok(took < 100, `${template} took ${took} ms`)
  }
})
