// What hostile tests say, and the server that they say it to.
import { createServer, form, tool } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'

export const version = '2026-07-28'
const prefix = 'io.modelcontextprotocol'

/** A request that stands alone. */
export function modern(id: string | number, method: string, params: object = {}, capabilities: object = {}): object {
  const _meta = { [`${prefix}/protocolVersion`]: version, [`${prefix}/clientCapabilities`]: capabilities }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

export const modernCall = (id: string | number, name: string, args: object = {}): object =>
  modern(id, 'tools/call', { name, arguments: args })

/** A request in a session. */
export const call = (id: string | number, name: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

export const text = (value: object): string => JSON.stringify(value)

/** A server with a tool that says back what it is told, one that waits until it is let go, and one that asks. */
export function target(): { server: Server; release(): void } {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const server = createServer({
    name: 'target',
    version: '1',
    keys: [new Uint8Array(32).fill(3)],
    tools: [
      tool('echo', { input: { type: 'object' } }, (args) => JSON.stringify(args)),
      tool('wait', {}, async () => {
        await released
        return 'released'
      }),
      tool('ask', {}, async (_args, ctx) => {
        const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } } })
        return (await ctx.elicit('sure', sure, 'Sure?')).action
      }),
    ],
  })
  return { server, release }
}
