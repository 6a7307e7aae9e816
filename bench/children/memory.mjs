// In process: the same requests through Dragoman's in-memory connection, and through JSON.parse and JSON.stringify alone.
// Started with the cases in the first argument; sends back, for each, the CPU time per message of every round.
import { connectInMemory } from '../../dist/index.js'
import { createDragoman } from './dragoman.mjs'

/** Messages that are prepared at once, and whose texts are made outside of what is measured. */
const batch = 500
const warm = { messages: 40_000, ms: 3_000 }
let lastId = 1_000_000_000

const { cases, rounds, windowMs } = JSON.parse(process.argv[2])
for (const one of cases) process.send({ name: one.name, ...(await measure(one)) })
process.disconnect()

async function measure({ tools, opening, before, after }) {
  const link = connectInMemory(createDragoman(tools))
  let onAnswer = () => {}
  link.onMessage((text) => onAnswer(text))
  const ask = (text) =>
    new Promise((resolve) => {
      onAnswer = resolve
      link.send(text)
    })
  for (const text of opening) {
    if (text.includes('"id"')) await ask(text)
    else link.send(text)
  }
  const prepare = () => Array.from({ length: batch }, () => Buffer.from(`${before}${++lastId}${after}`).toString())
  const answer = await ask(prepare()[0])
  const response = JSON.parse(answer)
  if (!response.result || response.result.isError) throw new Error(answer.slice(0, 400))

  /** One message after the other, the next as soon as the one before is answered. */
  const throughDragoman = (texts) =>
    new Promise((resolve) => {
      let at = 0
      onAnswer = () => (++at < texts.length ? link.send(texts[at]) : resolve())
      link.send(texts[0])
    })
  let length = 0
  const throughJson = (texts) => {
    for (const text of texts) {
      response.id = JSON.parse(text).id
      length += JSON.stringify(response).length
    }
  }

  await warmUp(throughDragoman, prepare)
  await warmUp(throughJson, prepare)
  const dragoman = []
  const json = []
  for (let round = 0; round < rounds; round++) {
    dragoman.push(await cpuPerMessage(throughDragoman, prepare, windowMs))
    json.push(await cpuPerMessage(throughJson, prepare, windowMs))
  }
  await link.close()
  return { dragoman, json, bytes: length > 0 ? answer.length : 0 }
}

/** Until the code is compiled, which takes messages, however long they last. */
async function warmUp(run, prepare) {
  const deadline = performance.now() + warm.ms
  for (let done = 0; done < warm.messages && performance.now() < deadline; done += batch) await run(prepare())
}

/** Microseconds. */
async function cpuPerMessage(run, prepare, ms) {
  const end = performance.now() + ms
  let micros = 0
  let messages = 0
  while (performance.now() < end) {
    const texts = prepare()
    const before = process.cpuUsage()
    await run(texts)
    const { user, system } = process.cpuUsage(before)
    micros += user + system
    messages += texts.length
  }
  return micros / messages
}
