import { createRequire } from 'node:module'
import type { TLocalizedValidationError } from 'typebox/error'
import type { Check, Compile, Errors } from 'typebox/schema'
import type { JsonObject } from '../model/json.ts'
import { pathText } from './issues.ts'
import type { Checked, Issue } from './issues.ts'

/** What compiles plain JSON Schema: the default export, or the namespace, of `typebox/schema`. */
export interface JsonSchemaEngine {
  readonly Compile: typeof Compile
  readonly Check: typeof Check
  readonly Errors: typeof Errors
}

let engine: JsonSchemaEngine | undefined

/**
 * Gives the engine that compiles plain JSON Schema where it cannot be loaded when it is needed: in a bundle, as for
 * workers. `import engine from 'typebox/schema'; useJsonSchemaEngine(engine)`.
 */
export function useJsonSchemaEngine(given: JsonSchemaEngine): void {
  engine = given
}

/** Loading it takes longer than all the rest of a server, and one that uses Standard Schema alone never needs it. */
function loadEngine(): JsonSchemaEngine {
  try {
    engine ??= requireEngine()
    return engine
  } catch (cause) {
    throw new Error('Plain JSON Schema needs typebox/schema; in a bundle call useJsonSchemaEngine first', { cause })
  }
}

/** As the build left it beside this code, in one file that loads in a sixth of the time; else from its package. */
function requireEngine(): JsonSchemaEngine {
  const require = createRequire(import.meta.url)
  // `require` gives whatever there is; the package's own types say what that is.
  try {
    return require('./json-schema-engine.cjs') as JsonSchemaEngine
  } catch {
    return require('typebox/schema') as JsonSchemaEngine
  }
}

/**
 * Compiles a JSON Schema that was checked (`toDocument`); formats are asserted. The validator hands on the very value
 * it was given. Where code cannot be generated, as in workers, it interprets the schema instead.
 * @throws for what no validator can be made of, such as a pattern that is no regular expression
 */
export function compileJsonSchema(document: JsonObject): (value: unknown) => Checked<unknown> {
  const validator = toValidator(document)
  mustEnd(() => validator.Check({}))
  const view = inheritedNames.test(JSON.stringify(document)) ? withoutPrototypes : (value: unknown) => value
  return (value) => {
    const seen = view(value)
    return validator.Check(seen) ? { value } : { issues: toIssues(validator.Errors(seen)[1]) }
  }
}

type Validator = Pick<ReturnType<typeof Compile>, 'Check' | 'Errors'>

/**
 * The engine interprets schemas where it finds that code cannot be generated, but it looks once only: workers allow it
 * while they start and not later.
 */
function toValidator(document: JsonObject): Validator {
  const { Compile, Check, Errors } = loadEngine()
  try {
    return Compile(document)
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
    return { Check: (value): value is never => Check(document, value), Errors: (value) => Errors(document, value) }
  }
}

/** The engine takes what every object inherits for a member, unless the value inherits nothing. */
const inheritedNames =
  /"(?:hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf|__(?:define|lookup)[GS]etter__)"/

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, withoutPrototypes(member)] as const)
  return Object.setPrototypeOf(Object.fromEntries(members), null)
}

/** Schemas that apply themselves to the same value for ever are found by trying. */
function mustEnd(run: () => unknown): void {
  try {
    run()
  } catch (cause) {
    throw new TypeError('This JSON Schema cannot be applied to a value; does it refer to itself without end?', {
      cause,
    })
  }
}

function toIssues(errors: readonly TLocalizedValidationError[]): Issue[] {
  // A schema of `false` is reported beside the keyword that holds it, which says more.
  const told = errors.filter((error) => error.keyword !== 'boolean')
  return (told.length > 0 ? told : errors).flatMap(toIssue)
}

function toIssue(error: TLocalizedValidationError): Issue | Issue[] {
  const steps = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const here = (message: string): Issue => ({ path: pathText(steps), message })
  const at = (name: PropertyKey, message: string): Issue => ({ path: pathText([...steps, name]), message })
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => at(name, 'is required'))
    case 'dependentRequired':
      return error.params.dependencies.map((name) => at(name, `is required with ${error.params.property}`))
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => at(name, 'is not known'))
    case 'unevaluatedProperties':
      return error.params.unevaluatedProperties.map((name) => at(name, 'is not known'))
    case 'enum':
      return here(`must be one of ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`)
    case 'const':
      return here(`must be ${JSON.stringify(error.params.allowedValue)}`)
    default:
      return here(error.message)
  }
}
