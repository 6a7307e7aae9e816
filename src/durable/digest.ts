import { nodeCrypto } from '../seal/crypto.ts'

/**
 * JSON with the members of every object in one order, so that equal values have equal texts.
 * Members that JSON leaves out are left out.
 */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return primitive(value)
  return Array.isArray(value) ? list(value) : members(value)
}

/** A number that is too large for one is read as infinite (RFC 8259, section 6), and must not look like `null`. */
function primitive(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : (JSON.stringify(value) ?? 'null')
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
  return digestOf(values.every(isPlain) ? JSON.stringify(values) : list(values))
}

/** What is the same text in a list and by itself. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || value === null
}

function digestOf(text: string): string {
  return nodeCrypto().hash('sha256', text, 'base64url').slice(0, 22)
}
