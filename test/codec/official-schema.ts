import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { TestContext } from 'node:test'

/** The part of a JSON Schema that the tests look at. */
export interface SchemaNode {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly const?: unknown
  readonly anyOf?: readonly SchemaNode[]
  readonly allOf?: readonly SchemaNode[]
}

/** The official schema of one revision. */
export interface OfficialSchema {
  readonly definitions: Readonly<Record<string, SchemaNode>>
  /** What is wrong with `value` as a `definition`; empty when nothing is. */
  faults(definition: string, value: unknown): string[]
  /** The names of the members that a definition has, those of what it is made of included. */
  members(definition: string, ...path: string[]): string[]
}

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** Where the official schemas lie: `DRAGOMAN_SPEC`, or `shared/spec` beside the repository. */
export const schemaFolder: string = process.env['DRAGOMAN_SPEC'] ?? join(repository, '../shared/spec')

const loaded = new Map<string, OfficialSchema>()

/** The official schema of `revision`, or `undefined` where it cannot be had. */
export function officialSchema(revision: string): OfficialSchema | undefined {
  const file = join(schemaFolder, revision, 'schema.json')
  if (!loaded.has(revision) && existsSync(file)) loaded.set(revision, load(file))
  return loaded.get(revision)
}

/** The official schema of `revision`; skips the test, aloud, where it cannot be had. */
export function schemaOrSkip(revision: string, context: TestContext): OfficialSchema | undefined {
  const schema = officialSchema(revision)
  if (!schema) context.skip(`no official schema of ${revision} in ${schemaFolder} (set DRAGOMAN_SPEC)`)
  return schema
}

function load(file: string): OfficialSchema {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  const keyword = '$defs' in document ? '$defs' : 'definitions'
  const definitions = document[keyword] as Record<string, SchemaNode>
  // Union types such as ["string", "integer"] are the schemas' own way to say so, and formats are beside the point here.
  const options = { strict: false, validateFormats: false, allErrors: true }
  const ajv = keyword === '$defs' ? new Ajv2020(options) : new Ajv(options)
  ajv.addSchema(document, 'official')
  const faults = (definition: string, value: unknown): string[] => {
    const validate = ajv.getSchema(`official#/${keyword}/${definition}`)
    if (!validate) throw new Error(`${file} does not define ${definition}`)
    // Through JSON, so that members which are undefined count as absent, as they do on the wire.
    if (validate(JSON.parse(JSON.stringify(value)))) return []
    return (validate.errors ?? []).map((error) => `${definition}${error.instancePath} ${error.message ?? ''}`)
  }
  const resolveNode = (node: SchemaNode | undefined): SchemaNode | undefined =>
    node?.$ref ? resolveNode(definitions[node.$ref.split('/').at(-1) ?? '']) : node
  const membersOf = (node: SchemaNode | undefined): string[] => {
    const whole = resolveNode(node)
    const parts = [...(whole?.anyOf ?? []), ...(whole?.allOf ?? [])]
    return [...Object.keys(whole?.properties ?? {}), ...parts.flatMap(membersOf)]
  }
  const members = (definition: string, ...path: string[]): string[] => {
    let node = resolveNode(definitions[definition])
    if (!node) throw new Error(`${file} does not define ${definition}`)
    for (const name of path) node = resolveNode(node?.properties?.[name])
    return [...new Set(membersOf(node))].toSorted()
  }
  return { definitions, faults, members }
}
