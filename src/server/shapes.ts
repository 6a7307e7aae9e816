import type { ContentBlock, ResourceContents } from '../model/content.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { PromptMessage } from '../model/nouns.ts'

/** What must be text in a block of each kind that is nothing but texts (specification, `ContentBlock`). */
const texts: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['data', 'mimeType']],
  ['audio', ['data', 'mimeType']],
  ['resource_link', ['uri', 'name']],
])

/** Whether what a handler returned is a whole block of content. A kind that is not known passes: a codec knows what becomes of it. */
export function isBlock(value: unknown): value is ContentBlock {
  if (!isObject(value) || typeof value.type !== 'string' || isWrittenAnew(value)) return false
  if (value.type === 'resource') return isContents(value.resource)
  const needed = texts.get(value.type)
  return needed === undefined || hasTexts(value, needed)
}

/** Whether what a handler returned is a list of whole blocks, without gaps. */
export function areBlocks(value: unknown): value is readonly ContentBlock[] {
  // `every` would pass over gaps, which become null.
  return Array.isArray(value) && !isWrittenAnew(value) && Array.from(value).every(isBlock)
}

/** Whether something else than a value is written of it, which nobody has looked at. */
function isWrittenAnew(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** Whether what a reader returned is contents of a resource: a URI, and text or base64. */
export function isContents(value: unknown): value is ResourceContents {
  return isObject(value) && hasTexts(value, ['uri']) && (hasTexts(value, ['text']) || hasTexts(value, ['blob']))
}

/** Whether what a getter returned is a message: a role, and one block. */
export function isMessage(value: unknown): value is PromptMessage {
  return isObject(value) && (value.role === 'user' || value.role === 'assistant') && isBlock(value.content)
}

/** Whether what a client sampled is a whole message: its role, its model, and one block or several of a kind that is sampled. */
export function isSampled({ role, content, model, stopReason }: JsonObject): boolean {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
  return (
    (role === 'user' || role === 'assistant') &&
    typeof model === 'string' &&
    isTextOrAbsent(stopReason) &&
    blocks.every(isSampledBlock)
  )
}

function isSampledBlock(block: unknown): boolean {
  if (!isObject(block)) return false
  if (block.type === 'tool_use') return hasTexts(block, ['id', 'name']) && isObject(block.input)
  if (block.type === 'tool_result') {
    return hasTexts(block, ['toolUseId']) && areBlocks(block.content)
  }
  return isBlock(block)
}

/** Whether a client's answer lists its roots, each with a URI. */
export function isRoots({ roots }: JsonObject): boolean {
  return (
    Array.isArray(roots) &&
    roots.every((root: unknown) => isObject(root) && hasTexts(root, ['uri']) && isTextOrAbsent(root.name))
  )
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function hasTexts(value: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string')
}
