// Calls that run at most once and calls that may run again, over one store, in process. Started with what to do in the
// first argument; sends back the CPU time per call of every round, in microseconds, and the round trips to the store
// that a claimed call waits for before it runs.
import { connectInMemory, createServer, memoryStore, tool } from '../../dist/index.js'

const { store: where, inFlight, calls, rounds, warmUps } = JSON.parse(process.argv[2])
const stores = {
  memory: async () => memoryStore({ maxKeys: 1_000_000 }),
  sqlite: async ({ path }) => (await import('../../dist/sqlite.js')).sqlite(path),
  redis: async ({ url }) => (await import('../../dist/redis.js')).redis({ url }),
}
const store = await stores[where.kind](where)
const run = callerOf(store)
let ids = 0

for (let turn = 0; turn < warmUps; turn++) {
  await cpuPerCall(true)
  await cpuPerCall(false)
}
const plain = []
const claimed = []
for (let round = 0; round < rounds; round++) {
  plain.push(await cpuPerCall(false))
  claimed.push(await cpuPerCall(true))
}
process.send({ plain, claimed, trips: await tripsBeforeIt() })
await store.close()
process.disconnect()

/** Makes all the calls whose texts it is given, the next as soon as one before is answered. */
function callerOf(store) {
  const tools = [tool('echo', {}, () => 'hello')]
  const link = connectInMemory(createServer({ name: 'bench', version: '1', store, tools }))
  let onAnswer = () => {}
  link.onMessage((text) => {
    if (!text.includes('"hello"')) throw new Error(text)
    onAnswer()
  })
  return (texts) =>
    new Promise((resolve) => {
      let sent = 0
      let answered = 0
      const sendNext = () => {
        const text = texts[sent++]
        if (text !== undefined) link.send(text)
      }
      onAnswer = () => (++answered === texts.length ? resolve() : sendNext())
      for (let at = 0; at < inFlight; at++) sendNext()
    })
}

/** The text of a call. No id and no key comes twice. */
function textOf(name, isClaimed) {
  const id = ++ids
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(isClaimed && { 'dev.dragoman/idempotencyKey': `call ${id} of ${process.pid}` }),
  }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, _meta } })
}

async function cpuPerCall(isClaimed) {
  const texts = Array.from({ length: calls }, () => textOf('echo', isClaimed))
  const before = process.cpuUsage()
  await run(texts)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

async function tripsBeforeIt() {
  let trips = 0
  const counted = {
    ...store,
    get: (key) => (trips++, store.get(key)),
    put: (key, value, options) => (trips++, store.put(key, value, options)),
  }
  let before
  const tools = [tool('count', {}, () => String((before = trips)))]
  const link = connectInMemory(createServer({ name: 'bench', version: '1', store: counted, tools }))
  const messages = link.messages()
  const tripsOf = async () => {
    const first = trips
    link.send(textOf('count', true))
    await messages.next()
    return before - first
  }
  // The first call of a server waits for its keys, too.
  await tripsOf()
  const found = await tripsOf()
  await link.close()
  return found
}
