import { isObject, type JsonObject } from '../model/json.ts'
import type { SamplingContent } from '../model/content.ts'
import type { SampleParams, SampleResult } from '../model/nouns.ts'
import { method, type MethodValue } from './custom-method.ts'
import type { Context } from './context.ts'

/** What a server's own model said: one block, since only some revisions have room for several. */
export type Sampled = Omit<SampleResult, 'content'> & { readonly content: SamplingContent }

/** Asks the server's own model. */
export type SamplingHandler = (params: SampleParams, ctx: Context) => Promise<Sampled> | Sampled

const shape: JsonObject = {
  type: 'object',
  properties: {
    messages: { type: 'array', items: { type: 'object', required: ['role', 'content'] } },
    maxTokens: { type: 'number' },
  },
  required: ['messages', 'maxTokens'],
}

/**
 * `sampling/createMessage` the other way round: a client asks the server's model. No revision defines that, so it is off
 * unless this is among a server's `methods`. Without a handler it is on, and answers InternalError.
 */
export function answerSampling(
  handler?: SamplingHandler,
  { enabled = true }: { readonly enabled?: boolean | (() => boolean) } = {},
): MethodValue {
  return method(
    'sampling/createMessage',
    { params: shape, enabled },
    // The schema has just proved what is taken on trust here.
    handler && (async (params, ctx) => checked(await handler(params as unknown as SampleParams, ctx))),
  )
}

function checked(sampled: Sampled): JsonObject {
  const { role, content, model } = sampled
  if (typeof role !== 'string' || typeof model !== 'string' || !isObject(content)) {
    throw new TypeError('A sampling handler answers with role, content and model')
  }
  return sampled as unknown as JsonObject
}
