import { buildSync } from 'esbuild'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createWireServer } from '../../fixtures/wire/server.ts'
import { serveHttp } from '../../src/index.ts'

/** How a client gets at the wire fixture. */
export type Reach = { readonly url: URL } | { readonly command: readonly [string, ...string[]] }

/**
 * The fixture as a process of its own, over standard input and output. It is bundled first: clients start it often, and
 * it starts in a third of the time. The bundle lies in the repository, since that is where its packages are.
 */
export function overStdio(): { readonly command: readonly [string, ...string[]] } {
  const outfile = fileURLToPath(new URL(`../../.cache/wire-fixture-${process.pid}.mjs`, import.meta.url))
  buildSync({
    entryPoints: [fileURLToPath(new URL('../../fixtures/wire.ts', import.meta.url))],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  })
  process.once('exit', () => rmSync(outfile, { force: true }))
  return { command: [process.execPath, outfile, '--stdio'] }
}

/** The fixture in this process, on any free port. */
export async function overHttp(): Promise<{ readonly reach: { readonly url: URL }; close(): Promise<void> }> {
  const http = await serveHttp(createWireServer(), { port: 0 })
  return { reach: { url: new URL(http.url) }, close: () => http.close() }
}
