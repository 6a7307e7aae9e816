import { createHash } from 'node:crypto'
import { isObject } from '../model/json.ts'

/** JSON with the members of every object in one order, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  )
}

/** A short name for a JSON value: equal for equal values, and nobody can find another value with the same one. */
export function digest(...values: readonly unknown[]): string {
  const hash = createHash('sha256')
  for (const value of values) hash.update(canonical(value) ?? 'undefined').update('\0')
  return hash.digest('base64url').slice(0, 22)
}
