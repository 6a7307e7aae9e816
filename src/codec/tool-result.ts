import { isObject, own } from '../model/json.ts'
import type { Transform } from './define.ts'
import type { Json, JsonObject } from '../model/json.ts'

/**
 * Writes a tool's result: its content is the text copy of its structured content unless it came with one of its own,
 * and structured content that the revision cannot carry goes out as that copy alone (server/tools, structured content).
 * The encoder throws a TypeError on structured content that no JSON can express, such as one that refers to itself.
 */
export function toolResult(structured: 'none' | 'object' | 'any'): Transform {
  return (model, report) => {
    const value = own(model, 'structuredContent')
    if (value === undefined) return own(model, 'content') === undefined ? { content: [], ...present(model) } : model
    const fits = structured === 'any' || (structured === 'object' && isObject(value))
    const content = own(model, 'content')
    if (fits) return content === undefined ? { content: [textCopy(value)], ...present(model) } : model
    report('structured-content-to-text', 'CallToolResult.structuredContent')
    const { structuredContent: _, ...rest } = model
    return { ...rest, content: withCopy(Array.isArray(content) ? content : [], textCopy(value)) }
  }
}

/** `model` without a `content` that is there and undefined, so that it does not hide the copy. */
function present(model: JsonObject): JsonObject {
  if (!Object.hasOwn(model, 'content')) return model
  const { content: _, ...rest } = model
  return rest
}

function textCopy(value: Json): { readonly type: 'text'; readonly text: string } {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError('Structured content is not JSON')
  return { type: 'text', text }
}

function withCopy(content: readonly Json[], copy: { readonly type: 'text'; readonly text: string }): readonly Json[] {
  const there = content.some(
    (block) => isObject(block) && own(block, 'type') === 'text' && own(block, 'text') === copy.text,
  )
  return there ? content : [...content, copy]
}

/** Leaves out an output schema that does not describe an object: older revisions define no other. */
export const objectOutputSchema: Transform = (tool, report) => {
  const schema = own(tool, 'outputSchema')
  if (schema === undefined || (isObject(schema) && own(schema, 'type') === 'object')) return tool
  report('output-schema-dropped', 'Tool.outputSchema')
  const { outputSchema: _, ...rest } = tool
  return rest
}
