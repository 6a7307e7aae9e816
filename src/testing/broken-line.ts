import { createServer, type AddressInfo, type Socket } from 'node:net'
import { connectInMemory } from '../memory.ts'
import { readMessage } from '../wire/envelope.ts'
import { createLineSplitter } from '../wire/lines.ts'
import type { MemoryEnd } from '../transport/dial/memory.ts'
import { memoryTarget, socketTarget } from '../transport/dial/target.ts'
import type { BrokenCall } from './broken-call.ts'
import type { BrokenDoor, OpenDoor } from './broken-door.ts'
import { timerMs } from '../model/timer.ts'

/** The server's end of one connection that all messages share. */
interface Wire {
  say(text: string): void
  flood(head: string): void
  cut(): void
}

/** Puts a connection to the sound server behind a wire, with the calls taken out that are to fail. */
function connect({ served, options, takes }: OpenDoor, wire: Wire, die: () => void) {
  const sound = connectInMemory(served, { ...options, graceMs: 0 })
  const timers = new Set<NodeJS.Timeout>()
  const close = (): void => {
    for (const timer of timers) clearInterval(timer)
    void sound.close()
  }
  sound.onMessage((text) => wire.say(text))
  return {
    close,
    receive(text: string): void {
      const fail = takes(text)
      if (fail === undefined) return sound.send(text)
      const request = readMessage(JSON.parse(text))
      if (request.kind !== 'request') return
      const call: BrokenCall = {
        request,
        send: (answer) => wire.say(answer),
        end() {},
        flood: (head) => wire.flood(head),
        drop: () => wire.cut(),
        die,
        every: (ms, act) => void timers.add(setInterval(act, timerMs(ms))),
      }
      fail(call)
    },
  }
}

/** A broken server within the process. */
export function openMemory(door: OpenDoor): Promise<BrokenDoor> {
  const cuts = new Set<() => void>()
  let dead = false
  const die = (): void => {
    dead = true
    for (const cut of cuts) cut()
  }

  function end(): MemoryEnd {
    if (dead) throw new Error('the server is gone')
    let hear = (_text: string): void => {}
    let tell = (): void => {}
    let open = true
    const cut = (): void => {
      if (!open) return
      open = false
      cuts.delete(cut)
      connection.close()
      tell()
    }
    const say = (text: string): void => {
      // Later, as on any wire.
      void Promise.resolve().then(() => open && hear(text))
    }
    const flood = (head: string): void => say(head + 'x'.repeat(64 * 1024 * 1024))
    const connection = connect(door, { say, flood, cut }, die)
    cuts.add(cut)
    return {
      send: (text) => void (open && Promise.resolve().then(() => connection.receive(text))),
      onMessage: (listener) => (hear = listener),
      onClose: (listener) => (tell = listener),
      close() {
        tell = () => {}
        cut()
      },
    }
  }
  return Promise.resolve({ target: memoryTarget(end), close: async () => die() })
}

const gigabyte = 1024 ** 3

/** A broken server on a TCP port of the loopback interface, one message a line. */
export async function openSocket(door: OpenDoor): Promise<BrokenDoor> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const say = (text: string): void => void (socket.writable && socket.write(`${text}\n`))
    const wire = { say, flood: (head: string) => pour(socket, head), cut: () => socket.destroy() }
    const connection = connect(door, wire, die)
    const lines = createLineSplitter({
      maxBytes: gigabyte,
      onLine: (line) => connection.receive(Buffer.from(line).toString()),
      onOverflow() {},
    })
    socket.on('data', lines.push).on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      connection.close()
    })
  })
  const die = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { target: socketTarget({ port }), close: async () => die() }
}

/** Writes a gigabyte, as fast as it is read, and no faster. */
export function pour(stream: NodeJS.WritableStream & { readonly destroyed: boolean }, head: string): void {
  const piece = 'x'.repeat(64 * 1024)
  let left = gigabyte
  const more = (): void => {
    while (!stream.destroyed && left > 0) {
      left -= piece.length
      if (!stream.write(piece)) return
    }
    if (left <= 0) stream.removeListener('drain', more).end('\n')
  }
  stream.write(head)
  stream.on('drain', more)
  more()
}
