// Defends: outages of a network can be played without touching the server behind it.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Stands between clients and a server, and can fail in the ways networks do. */
export interface TcpProxy {
  readonly port: number
  /** Breaks every connection; new ones are taken. */
  cut(): void
  /** Breaks every connection and takes none until `up`. */
  down(): Promise<void>
  up(): Promise<void>
  /** Lets nothing through in either direction, while connections stay, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Lets nothing through on the connections there are, for good; new ones work. */
  strand(): void
  close(): Promise<void>
}

/** Forwards a free port of the loopback interface to `target`. */
export async function startProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const stranded = new WeakSet<Socket>()
  let frozen = false
  const server = createServer((near) => {
    const far = connect(target.port, target.host)
    link(near, far)
    link(far, near)
  })
  const port = await listen(server, 0)

  function link(from: Socket, to: Socket): void {
    sockets.add(from)
    if (frozen) from.pause()
    from.on('data', (chunk) => to.write(chunk))
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    if (frozen) from.pause()
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  function down(): Promise<void> {
    cut()
    return new Promise((resolve) => server.close(() => resolve()))
  }

  return {
    port,
    cut,
    down,
    async up() {
      await listen(server, port)
    },
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) if (!stranded.has(socket)) socket.resume()
    },
    strand() {
      for (const socket of sockets) {
        socket.pause()
        stranded.add(socket)
      }
    },
    close: down,
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)) // a port, not a path
  })
}
