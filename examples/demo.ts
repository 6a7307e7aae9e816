// `npm run demo`: one library, visited by clients of every revision over HTTP and over standard input and output.
// Exit status 0 means that every answer was what the database says, and that each revision lost just what it must.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from './demo/losses.ts'
import { packages, rows } from './demo/rows.ts'
import type { Row } from './demo/rows.ts'
import { collectLosses, commandFor, runOverHttp } from './demo/running.ts'
import { toHeading, toLines } from './demo/table.ts'
import type { Column } from './demo/table.ts'
import { visit } from './demo/visit.ts'
import type { Step } from './demo/visit.ts'
import type { Reach } from './demo/visitor.ts'
import { openDatabase } from './library/database.ts'
import { createLibrary } from './library/library.ts'

const columns: readonly Column[] = [
  ['revision', 10],
  ['client → agreed', 20],
  ['what was called → what came back', 48],
  ['lost in projection, and why', 36],
]

const inShort: readonly Column[] = [
  ['revision', 10],
  ['over', 8],
  ['client', 20],
  ['agreed', 10],
  ['answers', 10],
  ['lost in projection', 30],
]

const folder = mkdtempSync(join(tmpdir(), 'library-demo-'))
const file = join(folder, 'library.db')
const database = openDatabase(file)
const library = createLibrary(database)
const started = Date.now()
const overHttp = await runOverHttp(file)
let wrong = 0
/** One line for each client, for the end. */
const summary: string[] = []

/** Losses come by another pipe than answers, so those of the last answer may be a little behind it. */
const settleMs = 50

console.log(`The library runs on ${overHttp.url.href}, and as a child process for each client over stdio.`)
console.log(`${packages.join(' and ')} are official; a raw client does the rest.\n`)
console.log(toHeading(columns))
try {
  for (const row of rows) console.log(await visitAs(row))
} finally {
  await overHttp.stop()
  database.close()
  rmSync(folder, { recursive: true })
}
console.log(`In short:\n\n${toHeading(inShort)}\n${summary.join('\n')}`)
const seconds = ((Date.now() - started) / 1000).toFixed(1)
console.log(`\n${rows.length} clients, ${wrong === 0 ? 'all as it should be' : `${wrong} things wrong`}, ${seconds} s.`)
process.exitCode = wrong === 0 ? 0 : 1

/** One client's visit, as lines of the table. */
async function visitAs(row: Row): Promise<string> {
  const { revision, transport, client } = row
  const seen = overHttp.losses.length
  const child = collectLosses()
  const reach = reachOf(transport, child.add)
  let agreed = 'nothing'
  let steps: readonly Step[]
  try {
    const visitor = await row.connect(reach)
    agreed = visitor.agreed
    steps = await visit(visitor, library, `${revision} over ${transport}`, row.expected)
    await visitor.close()
    await sleep(settleMs)
  } catch (error) {
    steps = [{ called: 'connect', came: `FAILED: ${String(error)}`, failed: true }]
  }
  const losses = (transport === 'stdio' ? child.losses : overHttp.losses.slice(seen)).filter(
    (loss) => loss.revision === revision,
  )
  const lost = describe(losses, row.lost)
  const failed = steps.filter((step) => step.failed).length
  if (agreed !== revision) wrong++
  wrong += failed + lost.wrong
  const answers = failed === 0 ? `${steps.length} right` : `${failed} WRONG`
  const inProjection =
    lost.wrong > 0 ? `${lost.wrong} WRONG` : lost.rules === 0 ? 'nothing' : `${lost.rules} kinds of things, see above`
  summary.push(toLines(inShort, [[revision], [transport], [client], [agreed], [answers], [inProjection]]))
  return `${toLines(columns, [
    [revision, `over ${transport}`],
    [client, `→ ${agreed}${agreed === revision ? '' : ' (WRONG)'}`],
    steps.map(({ called, came }) => `${called} → ${came}`),
    lost.entries,
  ])}\n`
}

function reachOf(transport: Row['transport'], stderr: (text: string) => void): Reach {
  if (transport === 'stdio') return { command: commandFor(file, '--stdio'), stderr }
  return transport === 'http' ? { url: overHttp.url } : { sse: new URL('/sse', overHttp.url) }
}
