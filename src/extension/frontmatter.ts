import { parseDocument } from 'yaml'
import { isObject, type Json, type JsonObject } from '../model/json.ts'

/** What a skill says of itself, as its author wrote it (Agent Skills, "Frontmatter"). */
export interface Frontmatter extends JsonObject {
  readonly name: string
  readonly description: string
}

const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/
const nameForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const maxName = 64
const maxDescription = 1024

/**
 * Reads the frontmatter of a SKILL.md: all of it, as JSON.
 * @throws an error that says what is wrong: no frontmatter, no YAML, nothing that JSON can say, or no name and description
 */
export function readFrontmatter(text: string): Frontmatter {
  const [, yaml] = block.exec(text) ?? []
  if (yaml === undefined) throw new Error('it does not begin with frontmatter between two lines of ---')
  const document = parseDocument(yaml, { version: '1.2', schema: 'core', logLevel: 'silent' })
  const [fault] = [...document.errors, ...document.warnings]
  if (fault) throw new Error(`its frontmatter is no YAML: ${fault.message}`, { cause: fault })
  // Aliases are bounded by the library, so that a few lines cannot become a gigabyte.
  const read: unknown = document.toJS({ maxAliasCount: 100 })
  if (!isObject(read) || !isJson(read)) throw new Error('its frontmatter is no JSON object')
  const { name, description } = read
  if (typeof name !== 'string' || name.length > maxName || !nameForm.test(name)) {
    throw new Error(`its name has to be 1 to ${maxName} of a-z 0-9 and single hyphens between them`)
  }
  if (typeof description !== 'string' || description.trim() === '' || description.length > maxDescription) {
    throw new Error(`its description has to be a text of 1 to ${maxDescription} characters`)
  }
  return { ...read, name, description }
}

function isJson(value: unknown): value is Json {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (Array.isArray(value)) return value.every(isJson)
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson)
}
