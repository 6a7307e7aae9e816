import { fileURLToPath } from 'node:url'
import { createWireServer } from '../../fixtures/wire/server.ts'
import { serveHttp } from '../../src/index.ts'

/** How a client gets at the wire fixture. */
export type Reach = { readonly url: URL } | { readonly command: readonly [string, ...string[]] }

const fixture = fileURLToPath(new URL('../../fixtures/wire.ts', import.meta.url))

/** The fixture as a process of its own, over standard input and output. */
export const overStdio: Reach = {
  command: [process.execPath, '--import', import.meta.resolve('tsx'), fixture, '--stdio'],
}

/** The fixture in this process, on any free port. */
export async function overHttp(): Promise<{ readonly reach: { readonly url: URL }; close(): Promise<void> }> {
  const http = await serveHttp(createWireServer(), { port: 0 })
  return { reach: { url: new URL(http.url) }, close: () => http.close() }
}
