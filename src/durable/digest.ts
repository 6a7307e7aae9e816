import { nodeCrypto } from '../seal/crypto.ts'

/**
 * JSON with the members of every object in one order, so that equal values have equal texts.
 * Members that JSON leaves out are left out.
 */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return Array.isArray(value) ? list(value) : members(value)
}

function list(values: readonly unknown[]): string {
  let text = ''
  for (const value of values) text += text === '' ? canonical(value) : `,${canonical(value)}`
  return `[${text}]`
}

function members(value: object): string {
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const member: unknown = (value as Record<string, unknown>)[key]
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member)}`
  }
  return `{${text}}`
}

/** Shorter texts stand for themselves; the others for their digests, which look like none of these. */
const longText = 64

/** What stands for JSON values where only equality counts: the text of small ones, else their {@link digest}. */
export function fingerprint(value: unknown): string {
  const text = canonical(value)
  return text.length < longText ? `=${text}` : digestOf(text)
}

/** A short name for JSON values: equal for equal values, and nobody can find others with the same one. */
export function digest(...values: readonly unknown[]): string {
  return digestOf(values.some(isComposed) ? list(values) : JSON.stringify(values))
}

/** Whether there are members to put in order. */
function isComposed(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function digestOf(text: string): string {
  return nodeCrypto().hash('sha256', text, 'base64url').slice(0, 22)
}
