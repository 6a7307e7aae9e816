import { hash } from 'node:crypto'

/**
 * JSON with the members of every object in one order, so that equal values have equal texts.
 * Members that JSON leaves out are left out.
 */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (members.length > 1) members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`
}

/** A short name for JSON values: equal for equal values, and nobody can find others with the same one. */
export function digest(...values: readonly unknown[]): string {
  return hash('sha256', canonical(values), 'base64url').slice(0, 22)
}
