// Defends: nothing grows that a long run can see. 50,000 calls, 5,000 sessions opened and abandoned, 1,000 listeners that
// come and go; the resident memory after warm-up is fitted by a line, whose slope has to be flat.
//   npm run soak -- [--calls 50000] [--sessions 5000] [--listeners 1000]
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createServer, serveHttp, tool } from '../src/index.ts'
import { headersFor } from '../test/hostile/doors.ts'
import { modern, modernCall, text } from '../test/hostile/requests.ts'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '50000' },
    sessions: { type: 'string', default: '5000' },
    listeners: { type: 'string', default: '1000' },
  },
})
/** Parts of the run; in each a share of the calls, the sessions and the listeners happens, then memory is looked at. */
const parts = 40
/** Parts at the start that warm up. */
const warmUp = 12
/** Bytes of resident memory that a part may add, by the fitted line: 5 MiB over a whole run is noise of the allocator. */
const maxSlope = (5 * 1024 * 1024) / (parts - warmUp)
/** The same for the heap, which is not noisy. */
const maxHeapSlope = (1024 * 1024) / (parts - warmUp)

const server = createServer({
  name: 'soak',
  version: '1',
  tools: [
    tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text: said }) =>
      String(said),
    ),
  ],
})
// The sessions change nothing that is to be kept for a client that comes back (a log level is, for a day; so is what a
// call in a session answered, for five minutes), so nothing of them may be left.
const door = await serveHttp(server, { maxSessions: 100 })
const agent = new Agent({ keepAlive: true, maxSockets: 16 })

interface Answered {
  readonly status: number
  readonly session: string | undefined
  readonly body: string
}

function post(body: string, session?: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: door.port,
        path: '/mcp',
        method: 'POST',
        agent,
        headers: { ...headersFor(body, session), 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        let said = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            session: response.headers['mcp-session-id']?.toString(),
            body: said,
          }),
        )
      },
    )
    request.on('error', reject).end(body)
  })
}

/** Opens a stream and leaves it as soon as it is acknowledged. */
function listen(id: number): Promise<void> {
  const body = text(modern(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: door.port,
        path: '/mcp',
        method: 'POST',
        agent: false,
        headers: headersFor(body, undefined),
      },
      (response) => {
        response.once('data', () => {
          response.destroy()
          resolve()
        })
        response.on('error', () => {})
      },
    )
    request.on('error', reject).end(body)
  })
}

const initialize = text({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
})

async function callOnce(id: number): Promise<void> {
  const { status, body } = await post(text(modernCall(id, 'echo', { text: `call ${id} ${'x'.repeat(id % 2_000)}` })))
  if (status !== 200 || !body.includes(`call ${id}`)) throw new Error(`call ${id}: ${status} ${body}`)
}

async function abandonSession(id: number): Promise<void> {
  const opened = await post(initialize)
  if (opened.session === undefined) throw new Error(`session ${id}: ${opened.status} ${opened.body}`)
  const { status } = await post(text({ jsonrpc: '2.0', id, method: 'tools/list' }), opened.session)
  if (status !== 200) throw new Error(`session ${id}: ${status}`)
}

/** Does `count` things, 16 at a time. */
async function many(count: number, once: (id: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await once(next++)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

/** The slope of the line through `points` that fits them best, per step. */
function slope(points: readonly number[]): number {
  const middle = (points.length - 1) / 2
  const mean = points.reduce((sum, point) => sum + point, 0) / points.length
  const up = points.reduce((sum, point, at) => sum + (at - middle) * (point - mean), 0)
  return up / points.reduce((sum, _point, at) => sum + (at - middle) ** 2, 0)
}

const share = (total: string): number => Math.ceil(Number(total) / parts)
const rss: number[] = []
const heap: number[] = []
const started = Date.now()
for (let part = 1; part <= parts; part++) {
  await Promise.all([
    many(share(values.calls), callOnce),
    many(share(values.sessions), abandonSession),
    many(share(values.listeners), listen),
  ])
  globalThis.gc?.()
  const { rss: resident, heapUsed } = process.memoryUsage()
  rss.push(resident)
  heap.push(heapUsed)
}
let listening = server.changed('tools').peers
// The last to go may still be on their way out.
for (let tries = 0; listening > 0 && tries < 50; tries++) {
  await sleep(100)
  listening = server.changed('tools').peers
}
await door.close()
agent.destroy()

const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(2)
const [rssSlope, heapSlope] = [slope(rss.slice(warmUp)), slope(heap.slice(warmUp))]
console.log(
  `${values.calls} calls, ${values.sessions} sessions abandoned, ${values.listeners} listeners come and gone, in ${((Date.now() - started) / 1000).toFixed(0)} s, client and server in one process`,
)
console.log(
  `resident: ${mib(rss[0] ?? 0)} MiB at first, ${mib(rss[warmUp] ?? 0)} warm, ${mib(rss.at(-1) ?? 0)} at the end; slope after warm-up ${mib(rssSlope * (parts - warmUp))} MiB over the rest`,
)
console.log(
  `heap: ${mib(heap[warmUp] ?? 0)} MiB warm, ${mib(heap.at(-1) ?? 0)} at the end; slope ${mib(heapSlope * (parts - warmUp))} MiB over the rest; ${listening} listeners left`,
)
const faults = [
  ...(rssSlope > maxSlope ? ['resident memory grows'] : []),
  ...(globalThis.gc && heapSlope > maxHeapSlope ? ['the heap grows'] : []),
  ...(listening > 0 ? ['listeners are left'] : []),
]
for (const fault of faults) console.log(`FAIL ${fault}`)
process.exit(faults.length > 0 ? 1 : 0)
