import { isObject } from '../model/json.ts'
import type { StandardResult, StandardSchema } from './standard.ts'

type Validate = StandardSchema['~standard']['validate']

/** What a schema of Zod 4 shows to other libraries (`zod/v4/core`). */
interface Inside {
  readonly def: object
  run(payload: Payload, context: { readonly async: true }): Payload | Promise<Payload>
}

interface Payload {
  readonly value: unknown
  readonly issues: readonly unknown[]
}

/**
 * The check of a schema, such that nothing is begun and let go of. Zod first checks without waiting; where it comes upon
 * something to wait for it begins anew, and if what it let go of fails, that ends the process. So a schema that has
 * functions of its own in it is run in the way that may wait, which does so only where it has to.
 */
export function withoutLoose(schema: StandardSchema): Validate {
  const { validate } = schema['~standard']
  const inside = insideOf(schema)
  if (inside === undefined || !holds(schema, isCustom)) return validate
  return (value) => {
    const payload = inside.run({ value, issues: [] }, { async: true })
    // What went without waiting once does so again, and tells its issues in words.
    if (!(payload instanceof Promise)) return payload.issues.length === 0 ? { value: payload.value } : validate(value)
    return payload.then((done) => (done.issues.length === 0 ? { value: done.value } : inWords(schema, value)))
  }
}

/** Checks once more, for the words. */
async function inWords(schema: StandardSchema, value: unknown): Promise<StandardResult<unknown>> {
  const parse: unknown = Reflect.get(schema, 'safeParseAsync')
  if (typeof parse !== 'function') return { issues: [{ message: 'is not valid' }] }
  const parsed: unknown = await Reflect.apply(parse, schema, [value])
  const error: unknown = isObject(parsed) ? parsed.error : undefined
  const issues: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'issues') : undefined
  // Zod's issues are those of Standard Schema, which it extends.
  return { issues: Array.isArray(issues) ? issues : [{ message: 'is not valid' }] }
}

function insideOf(schema: object): Inside | undefined {
  const inside: unknown = Reflect.get(schema, '_zod')
  if (typeof inside !== 'object' || inside === null) return undefined
  const { def, run } = inside as Partial<Inside> // looked at in the next line
  return typeof def === 'object' && typeof run === 'function' ? (inside as Inside) : undefined
}

/** Whether it can be seen of a schema that checking by it takes waiting: a function in it is `async`. */
export function surelyWaits(schema: unknown): boolean {
  return holds(schema, (def) => functionsOf(def).some((found) => found.constructor.name === 'AsyncFunction'))
}

function functionsOf(def: object): readonly Function[] {
  const found: readonly unknown[] = ['fn', 'transform', 'getter'].map((name) => Reflect.get(def, name))
  return found.filter((value) => typeof value === 'function')
}

/** Whether somebody wrote a function for it; a schema that is made later counts as one that has some. */
function isCustom(def: object): boolean {
  return Reflect.get(def, 'check') === 'custom' || functionsOf(def).length > 0
}

/** Whether `test` holds for what defines a schema of Zod, or one within. */
function holds(part: unknown, test: (def: object) => boolean, seen: Set<unknown> = new Set()): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false
  seen.add(part)
  const inside: unknown = Reflect.get(part, '_zod')
  const def: unknown = typeof inside === 'object' && inside !== null ? Reflect.get(inside, 'def') : part
  if (typeof def !== 'object' || def === null) return false
  if (def !== part && test(def)) return true
  return Object.values(def).some((inner) => holds(inner, test, seen))
}
