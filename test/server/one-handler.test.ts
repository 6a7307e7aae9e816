// One handler serves both ways of asking: whatever it asks and does, in whatever order and nesting, it comes to the
// same, each question is put once, and each step has its effect once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { tool } from '../../src/index.ts'
import type { Context } from '../../src/index.ts'
import { clientOf, named, revisions, serverOf, textOf } from './support.ts'

/** What a handler does, one after the other; `all` does its parts at once. */
type Act =
  | { readonly do: 'ask' | 'step' | 'roots' | 'progress'; readonly key: string }
  | { readonly do: 'all' | 'caught' | 'finally'; readonly acts: readonly Act[] }

const { acts } = fc.letrec<{ act: Act; acts: Act[] }>((tie) => ({
  acts: fc.array(tie('act'), { maxLength: 4, depthIdentifier: 'acts' }),
  act: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ do: fc.constantFrom('ask', 'step', 'roots', 'progress'), key: fc.constant('') }),
    fc.record({ do: fc.constantFrom('all', 'caught', 'finally'), acts: tie('acts') }),
  ),
}))

/** Gives every act a key of its own: the same key twice is an error of the handler, which other tests are about. */
function keyed(all: readonly Act[], prefix = 'k'): Act[] {
  return all.map((act, at) =>
    'acts' in act ? { ...act, acts: keyed(act.acts, `${prefix}${at}.`) } : { ...act, key: `${prefix}${at}` },
  )
}

async function perform(act: Act, ctx: Context, effects: Map<string, number>): Promise<string> {
  const inOrder = async (all: readonly Act[]): Promise<string> => {
    const said: string[] = []
    for (const one of all) said.push(await perform(one, ctx, effects))
    return `(${said.join(' ')})`
  }
  switch (act.do) {
    case 'ask': {
      const said = await ctx.elicit(act.key, named, `What is ${act.key}?`)
      return said.action === 'accept' ? String(said.content.name) : said.action
    }
    case 'roots':
      return (await ctx.roots(act.key)).map(({ uri }) => uri).join()
    case 'step':
      return ctx.step<string>(act.key, async (): Promise<string> => {
        await Promise.resolve()
        effects.set(act.key, (effects.get(act.key) ?? 0) + 1)
        return `did ${act.key}`
      })
    case 'progress':
      ctx.progress(effects.size + 1)
      return ''
    case 'all':
      return `[${(await Promise.all(act.acts.map((one) => perform(one, ctx, effects)))).join(' ')}]`
    case 'caught':
      return inOrder(act.acts).catch(() => 'swallowed')
    case 'finally': {
      const [last, ...rest] = act.acts.toReversed()
      let ended = ''
      try {
        return `${await inOrder(rest)}${ended}`
      } finally {
        if (last) ended = await perform(last, ctx, effects)
      }
    }
  }
}

interface Played {
  readonly said: string
  readonly asked: readonly string[]
  readonly effects: Readonly<Record<string, number>>
}

async function play(program: readonly Act[], revision: string): Promise<Played> {
  const effects = new Map<string, number>()
  const asked: string[] = []
  const server = serverOf({
    tools: [
      tool('t', {}, async (_, ctx) =>
        perform({ do: 'all', acts: [{ do: 'caught', acts: [] }, ...program] }, ctx, effects),
      ),
    ],
  })
  const client = await clientOf(server, {
    revision,
    answer: (method, params, key) => {
      if (method === 'roots/list') {
        asked.push('roots')
        return { roots: [{ uri: 'file:///r' }] }
      }
      asked.push(String(params['message']))
      assert.ok(key === undefined || params['message'] === `What is ${key}?`)
      return String(params['message']).length % 3 === 0
        ? { action: 'decline' }
        : { action: 'accept', content: { name: `<${params['message']}>` } }
    },
  })
  const said = textOf(await client.request('tools/call', { name: 't' }))
  await client.close()
  return { said, asked: asked.toSorted(), effects: Object.fromEntries([...effects].sort()) }
}

test('a handler comes to the same on every revision that can ask, whatever it does', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (some) => {
      const program = keyed(some)
      const live = await play(program, '2025-11-25')
      const rounds = await play(program, '2026-07-28')
      assert.deepEqual(rounds, live)
      for (const [key, times] of Object.entries(rounds.effects)) assert.equal(times, 1, key)
    }),
    { numRuns: 150 },
  )
})

test('and so it does on each of the others', async () => {
  const program = keyed([
    { do: 'ask', key: '' },
    {
      do: 'all',
      acts: [
        { do: 'step', key: '' },
        { do: 'ask', key: '' },
        { do: 'roots', key: '' },
      ],
    },
    {
      do: 'caught',
      acts: [
        { do: 'ask', key: '' },
        { do: 'step', key: '' },
      ],
    },
  ])
  const [first, ...others] = await Promise.all(revisions.slice(2).map((revision) => play(program, revision)))
  for (const other of others) assert.deepEqual(other, first)
})
