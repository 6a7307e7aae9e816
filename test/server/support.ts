import { createServer, form } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import { testClient } from '../../src/testing.ts'
import type { Response, TestClient, TestClientOptions } from '../../src/testing.ts'

export const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
/** One revision that is asked while a call waits, one that is asked in rounds. */
export const eras = ['2025-11-25', '2026-07-28'] as const

export const everything = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
}

export const sure = form({ type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] })
export const named = form({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })
export const yes = { action: 'accept', content: { sure: true } }

export const key = new Uint8Array(32).fill(1)

type Options = Parameters<typeof createServer>[0]

/** A server that says nothing of itself but its name. */
export function serverOf(options: Partial<Options> = {}): Server {
  return createServer({ name: 'tested', version: '1', keys: [key], ...options })
}

/** A client that can do everything, unless told otherwise. */
export function clientOf(server: Server, options: TestClientOptions = {}): Promise<TestClient> {
  return testClient(server, { capabilities: everything, ...options })
}

export const staff = { id: 'ada', scopes: new Set(['staff']) }

/** The text of a tool's result. */
export function textOf({ result, error }: Response): string {
  const content = result?.['content'] as { text?: string }[] | undefined
  if (!content) throw new Error(`no content: ${JSON.stringify(error ?? result)}`)
  return content.map(({ text }) => text ?? '').join('\n')
}

/** Every message that a logger is told, by its level. */
export function recorder() {
  const lines: { level: string; message: string; fields: unknown }[] = []
  const at =
    (level: string) =>
    (message: string, fields?: unknown): void => {
      lines.push({ level, message, fields })
    }
  return {
    lines,
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    at: (level: string) => lines.filter((line) => line.level === level),
  }
}

/** Lets everything that is under way come to where it waits for somebody. */
export async function settled(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}
