import { z } from 'zod'

/** How to get at the running library: over HTTP, over the HTTP+SSE of old, or by the command that runs it over stdio. */
export type Reach =
  | { readonly url: URL }
  | { readonly sse: URL }
  | { readonly command: readonly [string, ...string[]]; stderr(text: string): void }

/** A client that has connected, whoever made it. */
export interface Visitor {
  /** The revision that both sides settled on. */
  readonly agreed: string
  /** What the server asked the user so far. */
  readonly asked: readonly string[]
  listTools(): Promise<unknown>
  callTool(name: string, args: Record<string, unknown>, onProgress?: (progress: number) => void): Promise<unknown>
  read(uri: string): Promise<unknown>
  prompt(name: string, args: Record<string, string>): Promise<unknown>
  complete(uriTemplate: string, name: string, value: string): Promise<unknown>
  close(): Promise<void>
}

/** What the user says whenever a form is shown. */
export const answer = { action: 'accept' as const, content: { days: 21 } }

export const whoWeAre = { name: 'library-demo', version: '1.0.0' }

/** Added to the environment of a library that runs as a child, so that it says what was lost. */
export const reportLosses = { LIBRARY_REPORTS_LOSSES: '1' }

const block = z.looseObject({ type: z.string(), text: z.string().optional() })

/** As much of the answers as the demo looks at, in the form that all revisions share. */
export const answers = {
  tools: z.looseObject({ tools: z.looseObject({ name: z.string() }).array() }),
  tool: z.looseObject({
    content: block.array(),
    structuredContent: z.json().optional(),
    isError: z.boolean().optional(),
  }),
  contents: z.looseObject({
    contents: z.looseObject({ uri: z.string(), text: z.string().optional(), blob: z.base64().optional() }).array(),
  }),
  prompt: z.looseObject({
    messages: z.looseObject({ content: z.looseObject({ resource: block.omit({ type: true }).optional() }) }).array(),
  }),
  completion: z.looseObject({ completion: z.looseObject({ values: z.string().array() }) }),
}
