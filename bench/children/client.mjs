// How a client under test is driven: it is told what to ask for, for how long and how much of it at once, and tells how
// often that was and what it cost. Nothing but the client runs in this process.

/**
 * Without an answer checked a client that fails fast would be the best of all, so each verb checks its own.
 * @param {{ call: () => Promise<void>, list: () => Promise<void> }} verbs
 */
export function driveBy(verbs) {
  process.on('message', async ({ ask, ms = 0, count = Infinity, atOnce = 1 }) => {
    if (ask === 'stop') process.exit()
    if (ask === 'heap') return process.send({ heapBytes: await settledBytes() })
    const one = verbs[ask]
    const before = process.cpuUsage()
    const until = ms > 0 ? performance.now() + ms : Infinity
    let begun = 0
    const line = async () => {
      while (begun < count && performance.now() < until) {
        begun++
        await one()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, line))
    const { user, system } = process.cpuUsage(before)
    process.send({ count: begun, cpuMicros: user + system })
  })
  process.on('disconnect', () => process.exit())
  process.send({ ready: true })
}

async function settledBytes() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage().heapUsed
}

/** What is called: the arguments of the tool `add-1`, which declares an output schema. */
export const toAdd = { name: 'add-1', arguments: { a: 19, b: 23 } }

/** @param {unknown} structured what the tool answered */
export function verifySum(structured) {
  if (structured?.sum !== 42) throw new Error(`Not the sum: ${JSON.stringify(structured)}`)
}

/** @param {readonly object[]} tools @param {number} count */
export function verifyTools(tools, count) {
  if (tools.length !== count) throw new Error(`${tools.length} tools were listed, not ${count}`)
}
