// A load generator that costs little itself: raw sockets, kept alive, one request at a time on each.
import { connect, type Socket } from 'node:net'
import { createResponseReader, type HttpResponse } from './response-reader.ts'

/** What one socket sends again and again. */
export interface Plan {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of the request with this id. Its length must not depend on the id. */
  readonly body: (id: number) => string
  /** Throws if a response is not what was asked for; sees the first one of each socket in full. */
  readonly verify: (response: HttpResponse) => void
}

/** What was reached between the first request and the last answer. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly serverCpuMicros: number
}

// Ids of one length, and none twice on a server: one that keeps track of ids would be answering repetitions.
let lastId = 1_000_000_000

/**
 * Keeps one request in flight on each socket for `ms` milliseconds, then waits for the last answers.
 * @param cpu tells the CPU time that the server has used so far, in microseconds
 * @throws if a socket breaks or a response is not what it should be
 */
export async function drive(plans: readonly Plan[], ms: number, cpu: () => Promise<number>): Promise<Load> {
  const lines = await Promise.all(plans.map(openLine))
  try {
    await Promise.all(lines.map((line) => line.once()))
    const cpuBefore = await cpu()
    const sleep = stayAwake()
    const start = performance.now()
    const counts = await Promise.all(lines.map((line) => line.until(start + ms))).finally(sleep)
    const seconds = (performance.now() - start) / 1_000
    const serverCpuMicros = (await cpu()) - cpuBefore
    return { requests: counts.reduce((sum, count) => sum + count, 0), seconds, serverCpuMicros }
  } finally {
    for (const line of lines) line.close()
  }
}

/**
 * Keeps this process from sleeping until the returned function is called. The kernel charges the server for waking it,
 * as much as the whole protocol costs, and the slower the server, the oftener it would find it asleep.
 */
function stayAwake(): () => void {
  let next = setImmediate(again)
  function again(): void {
    next = setImmediate(again)
  }
  return () => clearImmediate(next)
}

/** Sends one request on a connection of its own. */
export async function sendOnce(plan: Plan): Promise<HttpResponse> {
  const line = await openLine(plan)
  try {
    return await line.once()
  } finally {
    line.close()
  }
}

interface Line {
  /** Sends a request and verifies the whole response. */
  once(): Promise<HttpResponse>
  /** Sends one request after the other until `deadline`. @returns how many were answered */
  until(deadline: number): Promise<number>
  close(): void
}

function openLine(plan: Plan): Promise<Line> {
  const head = requestHead(plan)
  const reader = createResponseReader()
  let onResponse: (response: HttpResponse) => void = () => {}
  let fail: (error: Error) => void = () => {}

  function send(socket: Socket): void {
    socket.write(head + plan.body(++lastId))
  }
  function toLine(socket: Socket): Line {
    return {
      once: () =>
        new Promise((resolve, reject) => {
          fail = reject
          onResponse = (response) => {
            try {
              plan.verify(response)
              resolve(response)
            } catch (error) {
              reject(error instanceof Error ? error : new Error(String(error)))
            }
          }
          reader.keepBodies(true)
          send(socket)
        }),
      until: (deadline) =>
        new Promise((resolve, reject) => {
          let count = 0
          fail = reject
          onResponse = ({ status }) => {
            if (status !== 200) return reject(new Error(`${plan.path} answered ${status}`))
            count++
            if (performance.now() < deadline) send(socket)
            else resolve(count)
          }
          reader.keepBodies(false)
          send(socket)
        }),
      close: () => void socket.destroy(),
    }
  }

  return new Promise((resolve, reject) => {
    fail = reject
    const socket = connect({ port: plan.port, host: '127.0.0.1', noDelay: true }, () => resolve(toLine(socket)))
    socket.on('data', (chunk) => {
      const response = reader.push(chunk)
      if (response) onResponse(response)
    })
    socket.on('error', (error) => fail(error))
    socket.on('close', () => fail(new Error(`${plan.path} closed the connection`)))
  })
}

function requestHead({ port, path, headers, body }: Plan): string {
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body(lastId))) })
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}
