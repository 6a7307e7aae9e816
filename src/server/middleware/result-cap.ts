import type { CallToolResult, Operations } from '../../model/call.ts'
import type { ContentBlock } from '../../model/content.ts'
import type { Middleware } from '../middleware.ts'

/** Bytes that a block of nothing but text takes around it, and the comma. */
const plainBlock = 26

/** Bytes that the line about what was cut takes, at most. */
const longestNote = 40

/** How large results may be. */
export interface ResultCapOptions {
  /** UTF-8 bytes that the content of a tool's result may take as JSON, but for the lines that say what is missing. Default 256 KiB. */
  readonly maxBytes?: number
}

/**
 * Keeps results readable: text over the cap is cut, with a line that says so and by how much; pictures, sounds and
 * resources that do not fit are replaced by such a line. Once there is no room at all, one line tells how many blocks
 * more are left out. Structured content cannot be cut, so a result whose structured content is over the cap becomes an
 * error that says what to do.
 */
export function resultCap({ maxBytes = 256 * 1024 }: ResultCapOptions = {}): Middleware {
  return {
    call: async (call, context, next) => {
      const result = await next(call, context)
      return isFinal(result) ? capped(result, maxBytes) : result
    },
  }
}

function isFinal(result: Operations['tools/call']['result']): result is CallToolResult {
  return result.resultType === undefined
}

function capped(result: CallToolResult, maxBytes: number): CallToolResult {
  const structured = result.structuredContent === undefined ? 0 : sizeOf(result.structuredContent)
  if (structured > maxBytes) {
    const text = `The result has ${structured} bytes, more than the ${maxBytes} that are passed on. Ask for less of it.`
    return { isError: true, content: [{ type: 'text', text }] }
  }
  if (!result.content || isSurelyWithin(result.content, maxBytes) || sizeOf(result.content) <= maxBytes) return result
  return { ...result, content: fitting(result.content, maxBytes) }
}

/**
 * Whether blocks are within the cap as far as lengths alone tell, which is sooner told than by writing them: no unit of a
 * text takes more than six bytes.
 */
function isSurelyWithin(blocks: readonly ContentBlock[], maxBytes: number): boolean {
  let most = 2
  for (const block of blocks) {
    if (block.type !== 'text' || Object.keys(block).length > 2) return false
    most += plainBlock + 6 * block.text.length
  }
  return most <= maxBytes
}

function fitting(blocks: readonly ContentBlock[], maxBytes: number): ContentBlock[] {
  const content: ContentBlock[] = []
  let left = maxBytes
  for (const block of blocks) {
    if (left <= 0 && content.length > 0) break
    const fitted = fit(block, left)
    left -= sizeOf(fitted)
    content.push(fitted)
  }
  const dropped = blocks.length - content.length
  if (dropped > 0) content.push({ type: 'text', text: `[${dropped} more left out: over the size limit]` })
  return content
}

function fit(block: ContentBlock, left: number): ContentBlock {
  const size = sizeOf(block)
  if (size <= left) return block
  if (block.type !== 'text')
    return { type: 'text', text: `[${block.type} of ${size} bytes left out: over the size limit]` }
  const text = cut(block.text, left - sizeOf({ ...block, text: '' }) - longestNote)
  if (text === '') return { type: 'text', text: `[text of ${size} bytes left out: over the size limit]` }
  return { ...block, text: `${text}\n[cut: ${Buffer.byteLength(block.text) - Buffer.byteLength(text)} more bytes]` }
}

/** The beginning of `text` that takes at most `bytes` as JSON, never ending within a character. */
function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  let end = Math.max(0, Math.min(bytes, whole.length))
  for (;;) {
    while (end > 0 && end < whole.length && ((whole[end] ?? 0) & 0xc0) === 0x80) end--
    const kept = whole.subarray(0, end).toString()
    const size = sizeOf(kept) - 2
    if (size <= bytes || end === 0) return kept
    // What has to be escaped takes up to six times as much.
    end = Math.min(end - 1, Math.floor((end * bytes) / size))
  }
}

/** What is no JSON has no size here; it is refused when it is written. */
function sizeOf(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '')
  } catch {
    return 0
  }
}
