import { z } from 'zod'

/** What the user and the model of a client say when they are asked. */
export interface Answers {
  elicit(message: string): { action: 'accept'; content: { sure: boolean } } | { action: 'decline' }
  sample(text: string): string
}

export interface CallOptions {
  readonly signal?: AbortSignal
  onProgress?(progress: number, total: number | undefined): void
}

/** What the interop checks do with a client, whichever package it comes from. */
export interface InteropClient {
  readonly agreed: string
  listTools(): Promise<unknown>
  listResources(): Promise<unknown>
  listTemplates(): Promise<unknown>
  listPrompts(): Promise<unknown>
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<unknown>
  read(uri: string): Promise<unknown>
  prompt(name: string, args: Record<string, string>): Promise<unknown>
  completePrompt(name: string, argument: string, value: string): Promise<unknown>
  close(): Promise<void>
}

export const whoAmI = { name: 'interop', version: '1.0.0' }

const named = z.looseObject({ name: z.string() })

export const shapes = {
  tools: z.looseObject({ tools: named.array() }),
  resources: z.looseObject({ resources: named.extend({ uri: z.string() }).array() }),
  templates: z.looseObject({ resourceTemplates: named.extend({ uriTemplate: z.string() }).array() }),
  prompts: z.looseObject({ prompts: named.array() }),
  called: z.looseObject({
    content: z.looseObject({ type: z.string(), text: z.string().optional() }).array(),
    structuredContent: z.json().optional(),
    isError: z.boolean().optional(),
  }),
  contents: z.looseObject({ contents: z.looseObject({ uri: z.string() }).array() }),
  prompted: z.looseObject({ messages: z.looseObject({ role: z.string(), content: z.json() }).array() }),
  completed: z.looseObject({ completion: z.looseObject({ values: z.string().array() }) }),
  error: z.looseObject({ code: z.number() }),
}
