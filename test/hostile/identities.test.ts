// CVE-2026-25536 and its kin: many principals, sessions and ids, interleaved at random; no byte meant for one reaches another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createServer, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { openFetch, openHttp, openMemory, openStdio } from './doors.ts'
import type { Door, Open } from './doors.ts'
import { call, modernCall, text } from './requests.ts'

const people = ['ada', 'bob', 'eve'] as const

/** Says back who asked and what, after so many turns of the event loop, with progress on the way. */
function mirror(): Server {
  return createServer({
    name: 'mirror',
    version: '1',
    tools: [
      tool('whoami', { input: { type: 'object' } }, async (args, ctx) => {
        const { word, turns } = args as { word: string; turns: number }
        for (let turn = 0; turn < turns; turn++) {
          ctx.progress(turn + 1, turns, `${ctx.principal?.id} ${word}`)
          await new Promise((resolve) => setImmediate(resolve))
        }
        return `${ctx.principal?.id} ${word}`
      }),
    ],
  })
}

interface Visit {
  readonly who: number
  readonly session: boolean
  readonly id: number
  readonly turns: number
}

const visits = fc.array(
  fc.record({
    who: fc.nat(people.length - 1),
    session: fc.boolean(),
    id: fc.integer({ min: 1, max: 4 }),
    turns: fc.nat(4),
  }),
  { minLength: 4, maxLength: 24 },
)

async function play(open: Open, plan: readonly Visit[]): Promise<void> {
  const server = mirror()
  const opened: { who: string; words: Set<string>; busy: Set<number>; door: Door }[] = []
  const doorOf = new Map<string, (typeof opened)[number]>()
  for (const [index, who] of people.entries()) {
    for (const session of [true, false]) {
      const door = await open(server, { as: who })
      if (session) await door.shake('2025-06-18')
      const entry = { who, words: new Set<string>(), busy: new Set<number>(), door }
      opened.push(entry)
      doorOf.set(`${index} ${session}`, entry)
    }
  }
  await Promise.all(
    plan.map(async ({ who, session, id, turns }, at) => {
      const place = doorOf.get(`${who} ${session}`)
      // One id at a time on a connection: what becomes of a second one is another test's matter.
      if (place === undefined || place.busy.has(id)) return
      place.busy.add(id)
      const word = `word-${at}`
      place.words.add(word)
      const args = { word, turns }
      const withToken = (message: object): object => {
        const { params } = message as { params: { _meta?: object } }
        return { ...message, params: { ...params, _meta: { ...params._meta, progressToken: at } } }
      }
      const { message } = await place.door.say(
        text(withToken(session ? call(id, 'whoami', args) : modernCall(id, 'whoami', args))),
      )
      place.busy.delete(id)
      assert.deepEqual(
        (message?.result?.['content'] as { text: string }[] | undefined)?.[0]?.text,
        `${people[who]} ${word}`,
      )
    }),
  )
  for (const { who, words, door } of opened) {
    for (const message of door.heard) {
      for (const [, name = '', word = ''] of text(message).matchAll(/"(ada|bob|eve) (word-\d+)"/g)) {
        assert.equal(name, who, `${who} heard ${text(message)}`)
        assert.ok(words.has(word), `${who} heard ${text(message)}`)
      }
    }
    await door.close()
  }
}

for (const [name, open, numRuns] of [
  ['memory', openMemory, 40],
  ['stdio', openStdio, 10],
  ['http', openHttp, 6],
  ['fetch', openFetch, 15],
] as const) {
  test(`CVE-2026-25536: ${name}: no byte meant for one reaches another`, async () => {
    await fc.assert(
      fc.asyncProperty(visits, (plan) => play(open, plan)),
      { numRuns, interruptAfterTimeLimit: 20_000 },
    )
  })
}
