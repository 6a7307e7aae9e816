import type { Json, JsonObject } from '../model/json.ts'
import { own } from '../model/json.ts'

/**
 * The rules by which an encode says less than the model, and whether each only takes decoration away. `strict` peers
 * refuse a result that met a rule which is no decoration.
 */
export const rules = {
  /** A field that the revision does not define was left out. */
  'field-dropped': { decoration: true },
  /** An output schema that describes no object was left out: older revisions have no other. */
  'output-schema-dropped': { decoration: true },
  /** A field of a form lost its default. */
  'default-dropped': { decoration: true },
  /** The titles of a form's choices became `enumNames`. */
  'titles-to-enum-names': { decoration: true },
  /** Structured content went out as the text of its JSON only. */
  'structured-content-to-text': { decoration: false },
  /** A sound became a line that says there was one. */
  'audio-to-text': { decoration: false },
  /** A link became a line with its name and URI. */
  'link-to-text': { decoration: false },
  /** Content of another kind became a line that names the kind. */
  'kind-to-text': { decoration: false },
  /** Several blocks became the one that the revision has room for. */
  'blocks-to-one': { decoration: false },
} as const

/** The name of a projection rule. */
export type Rule = keyof typeof rules

/** One thing that an encode could not say. */
export interface Loss {
  readonly rule: string
  readonly revision: string
  readonly method: string
  /** The noun and field it concerns, such as `Tool.icons`. */
  readonly path?: string
  /** Whether what was lost only decorated: no meaning went with it. */
  readonly decoration: boolean
}

/** The loss that a codec's report of `rule` amounts to. */
export function createLoss(revision: string, method: string, rule: string, path?: string): Loss {
  const decoration = Object.hasOwn(rules, rule) && rules[rule as Rule].decoration
  return { rule, revision, method, decoration, ...(path === undefined ? {} : { path }) }
}

/** A text block that stands in for `block`, whose kind the revision lacks, and the rule by which it does. */
export function placeholder(block: JsonObject): { readonly rule: Rule; readonly block: JsonObject } {
  const type = words(block, 'type')
  if (type === 'audio')
    return { rule: 'audio-to-text', block: textBlock(`[audio: ${words(block, 'mimeType')}]`, block) }
  if (type === 'resource_link') {
    const title = words(block, 'title') || words(block, 'name')
    return { rule: 'link-to-text', block: textBlock(`${title}: ${words(block, 'uri')}`, block) }
  }
  return { rule: 'kind-to-text', block: textBlock(`[${type}]`, block) }
}

function textBlock(text: string, from: JsonObject): JsonObject {
  const annotations = own(from, 'annotations')
  return annotations === undefined ? { type: 'text', text } : { type: 'text', text, annotations }
}

function words(block: JsonObject, key: string): string {
  const value: Json | undefined = own(block, key)
  return typeof value === 'string' ? value : ''
}
