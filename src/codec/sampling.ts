import { isObject, own } from '../model/json.ts'
import { placeholder } from './projection.ts'
import type { Lacks, RequestDefinition, Transform } from './define.ts'
import type { Json, JsonObject } from '../model/json.ts'

/**
 * Writes a sampled message for revisions that give it one block: a list of one is that block. Of several, which only an
 * answer can have (asks are refused by {@link refusesTools}), one text is made.
 */
export const singleBlock: Transform = (message, report) => {
  const content = own(message, 'content')
  if (!Array.isArray(content)) return message
  const [only, ...others] = content
  if (isObject(only) && others.length === 0) return { ...message, content: only }
  report('blocks-to-one', 'content')
  return { ...message, content: { type: 'text', text: content.map(wordsOf).join('\n') } }
}

function wordsOf(block: Json): string {
  if (!isObject(block)) return ''
  const text = own(own(block, 'type') === 'text' ? block : placeholder(block).block, 'text')
  return typeof text === 'string' ? text : ''
}

/** Refuses to ask a model with tools, with several blocks in a message, or in a kind of content that is not there yet. */
export const refusesTools: NonNullable<RequestDefinition['refuses']> = (params, lacks) => {
  if (own(params, 'tools') !== undefined || own(params, 'toolChoice') !== undefined) return true
  const messages = own(params, 'messages')
  return Array.isArray(messages) && messages.some((message: Json) => isObject(message) && !isPlain(message, lacks))
}

function isPlain(message: JsonObject, lacks: Lacks): boolean {
  const content = own(message, 'content')
  const blocks: readonly (Json | undefined)[] = Array.isArray(content) ? content : [content]
  return blocks.length === 1 && blocks.every((block) => !isObject(block) || !isMissing(own(block, 'type'), lacks))
}

function isMissing(kind: Json | undefined, lacks: Lacks): boolean {
  return typeof kind === 'string' && lacks('SamplingContent', kind)
}
