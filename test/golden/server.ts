// The server behind the transcripts: small, and the same from run to run.
import { createServer } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { askingTools } from './asking.ts'
import { contentTools } from './content.ts'
import { prompts, resources } from './reading.ts'
import { runningTools } from './running.ts'

const noon = Date.UTC(2026, 7, 1, 12)

/** Bytes that count up, so that no run differs from another. */
function countingRandom(): (length: number) => Uint8Array {
  let next = 0
  return (length) => {
    const bytes = Buffer.alloc(length)
    bytes.writeUInt32BE(++next, length - 4)
    return bytes
  }
}

/** A fresh server for one transcript. */
export function goldenServer(): Server {
  return createServer({
    name: 'golden',
    version: '1.0.0',
    title: 'The golden server',
    description: 'Says the same thing every time',
    websiteUrl: 'https://golden.example/',
    icons: [{ src: 'https://golden.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
    instructions: 'Ask for anything.',
    tools: [...contentTools(), ...askingTools(), ...runningTools()],
    resources: resources(),
    prompts: prompts(),
    pageSize: 2,
    cache: { discover: { ttlMs: 60_000, cacheScope: 'public' }, tools: { ttlMs: 30_000, cacheScope: 'public' } },
    keys: [new Uint8Array(32).fill(7)],
    clock: () => noon,
    random: countingRandom(),
  })
}
