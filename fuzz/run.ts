// Throws mutated conversations and arbitrary bytes at every kind of door, and says what does not hold.
//   npm run fuzz -- [--seconds 120] [--seed N] [--door memory|stdio|http|sse] [--case N]
// What a case throws follows from seed, door and number alone: `--seed N --door D --case N` plays it again. What is under
// way when a door over HTTP closes is a matter of time too: where that plays without a fault, leave out the case.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createNames } from '../src/testing/names.ts'
import { readTranscript } from '../src/testing/transcript.ts'
import { officialSchema, schemaFolder } from '../test/codec/official-schema.ts'
import { goldenServer } from '../test/golden/server.ts'
import { filesUnder } from '../tools/files.ts'
import { doors } from './doors.ts'
import { judge } from './judge.ts'
import { nextText } from './mutate.ts'
import { createDice } from './random.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    door: { type: 'string', multiple: true, default: Object.keys(doors) },
    case: { type: 'string' },
  },
})
const seed = Number(values.seed)
const only = values.case === undefined ? undefined : Number(values.case)
const maxFailures = 5
/** Milliseconds after which a case hangs. */
const hangMs = 10_000
/** Bytes that a process may hold more at the end than when it was warm. */
const maxGrowth = 24 * 1024 * 1024

const transcripts = filesUnder('test/golden', '.transcript').map((file) => readTranscript(readFileSync(file, 'utf8')))
const corpus = transcripts.flatMap(({ turns, values }) =>
  turns.flatMap(({ sent }) => sent.map(createNames(values).reveal)),
)
const handshakes = corpus.filter((text) => text.includes('"initialize"'))
if (corpus.length < 100 || handshakes.length < 5) throw new Error('the transcripts are not there')
if (!officialSchema('2026-07-28'))
  console.log(
    `SKIPPED: no official schemas in ${schemaFolder} (set DRAGOMAN_SPEC), so no answer is checked against them`,
  )

let failures = 0
function fail(where: string, faults: readonly string[]): void {
  failures += 1
  console.log(`\nFAIL ${where}\n${faults.map((fault) => `  ${fault.slice(0, 600)}`).join('\n')}`)
}
const stray: string[] = []
process.on('uncaughtException', (error) => stray.push(`uncaught: ${error.stack}`))
process.on('unhandledRejection', (error) =>
  stray.push(`unhandled: ${error instanceof Error ? error.stack : String(error)}`),
)

/** Plays one case. @returns the texts it threw */
async function play(name: string, number: number): Promise<number> {
  const throwAt = doors[name]
  if (throwAt === undefined) throw new Error(`there is no door ${name}`)
  const dice = createDice(seed * 7_919 + number * 31 + name.length)
  const texts = Array.from({ length: 1 + dice.roll(10) }, () => nextText(corpus, dice))
  if (dice.percent(60)) texts.unshift(Buffer.from(dice.pick(handshakes)))
  const server = goldenServer()
  const thrown = throwAt(server, texts, dice).catch((error: unknown) => ({
    sent: [],
    heard: [],
    faults: [`the door: ${String(error)}`],
  }))
  const over = new AbortController()
  const hung = sleep(hangMs, undefined, { ref: false, signal: over.signal }).catch(() => undefined)
  const outcome = await Promise.race([thrown, hung])
  over.abort()
  const faults = outcome ? judge(outcome, officialSchema) : [`the door did not close within ${hangMs} ms`]
  if (server.changed('tools').peers > 0) faults.push('somebody listens still')
  faults.push(...stray.splice(0))
  if (faults.length > 0)
    fail(`--seed ${seed} --door ${name} --case ${number}`, [...faults, ...texts.map((text) => `> ${text.toString()}`)])
  return texts.length
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const until = Date.now() + Number(values.seconds) * 1_000
const counts = new Map<string, number>()
let texts = 0
let warm = 0
let number = only ?? 0
const cases = (): number => [...counts.values()].reduce((sum, count) => sum + count, 0)
console.log(`seed ${seed}, ${corpus.length} texts to start from, doors ${values.door.join(', ')}`)
while (failures < maxFailures && (only === undefined ? Date.now() < until : number === only)) {
  for (const name of values.door) {
    texts += await play(name, number)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  number += 1
  if (number === 100) warm = heap()
}
const grown = heap() - warm
if (warm > 0 && globalThis.gc && grown > maxGrowth)
  fail(`seed ${seed}`, [`the heap has grown by ${grown} bytes since case 100`])
console.log(
  `${cases()} cases (${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}), ${texts} texts, ${failures} failures` +
    (warm > 0 ? `, heap ${grown >= 0 ? '+' : ''}${(grown / 1024 / 1024).toFixed(1)} MiB since case 100` : ''),
)
process.exit(failures > 0 || cases() === 0 ? 1 : 0)
