// Whether the time of an answer tells a hidden tool from one that does not exist. Not a part of `npm run bench`: it has
// no budget, it has a verdict.
//   node --expose-gc --import tsx bench/hidden-timing.ts [--pairs 20000]
// Hidden and absent names are asked for in pairs, in random order. Two differences are looked at: which of a pair was
// slower, which is a fair coin when nothing tells them apart; and the medians, which shows how much there is to tell.
import { parseArgs } from 'node:util'
import { connectInMemory, createServer, prompt, resource, tool } from '../src/index.ts'

const { values } = parseArgs({ options: { pairs: { type: 'string', default: '20000' } } })
const pairs = Number(values.pairs)
/** Standard deviations of a fair coin beyond which it is called unfair: once in 3 million fair runs. */
const maxDeviation = 5
/** A difference of medians, as a share, that nobody can use over any network. */
const maxShare = 0.02

const scopes = ['staff']
const server = createServer({
  name: 'hiding',
  version: '1',
  tools: Array.from({ length: 50 }, (_, at) =>
    tool(`hidden-${at}`, { scopes, input: { type: 'object', properties: { a: { type: 'string' } } } }, () => 'seen'),
  ),
  resources: Array.from({ length: 50 }, (_, at) =>
    resource(`memo://hidden-${at}`, { name: `hidden-${at}`, scopes }, () => 'seen'),
  ),
  prompts: Array.from({ length: 50 }, (_, at) => prompt(`hidden-${at}`, { scopes }, () => 'seen')),
})
const link = connectInMemory(server)
let heard = (_text: string): void => {}
link.onMessage((text) => heard(text))

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const kinds = {
  tool: (name: string) => ({ method: 'tools/call', params: { name, arguments: { a: 'x' }, _meta } }),
  resource: (name: string) => ({ method: 'resources/read', params: { uri: `memo://${name}`, _meta } }),
  prompt: (name: string) => ({ method: 'prompts/get', params: { name, _meta } }),
} as const

/** Nanoseconds that the answer takes. */
async function time(message: object): Promise<number> {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
  const answered = new Promise<string>((resolve) => (heard = resolve))
  const started = process.hrtime.bigint()
  link.send(text)
  const answer = await answered
  const took = Number(process.hrtime.bigint() - started)
  if (!answer.includes('"error"')) throw new Error(answer)
  return took
}

const median = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? 0

let told = false
for (const [kind, message] of Object.entries(kinds)) {
  const hidden: number[] = []
  const absent: number[] = []
  let slower = 0
  let ties = 0
  for (let pair = -2_000; pair < pairs; pair++) {
    const at = Math.floor(Math.random() * 50)
    // Of equal length, and as new to the process as the other.
    const order = Math.random() < 0.5
    const first = await time(message(order ? `hidden-${at}` : `absent-${at}`))
    const second = await time(message(order ? `absent-${at}` : `hidden-${at}`))
    if (pair < 0) continue
    const [ofHidden, ofAbsent] = order ? [first, second] : [second, first]
    hidden.push(ofHidden)
    absent.push(ofAbsent)
    if (ofHidden === ofAbsent) ties += 1
    else if (ofHidden > ofAbsent) slower += 1
  }
  const decided = pairs - ties
  const deviation = (slower - decided / 2) / Math.sqrt(decided / 4)
  const [one, other] = [hidden, absent].map((times) => median(times.toSorted((a, b) => a - b)))
  const share = ((one ?? 0) - (other ?? 0)) / (other ?? 1)
  const tells = Math.abs(deviation) > maxDeviation && Math.abs(share) > maxShare
  told ||= tells
  console.log(
    `${tells ? 'FAIL' : 'ok  '} ${kind}: hidden ${one} ns, absent ${other} ns (${(share * 100).toFixed(2)} %); hidden was slower in ${((slower / decided) * 100).toFixed(2)} % of ${decided} pairs, ${deviation.toFixed(1)} deviations from a fair coin`,
  )
}
await link.close()
process.exit(told ? 1 : 0)
