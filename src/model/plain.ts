import type { Json } from './json.ts'

/** Deeper values are not looked through, but made plain by way of their text. */
const deepest = 64

/**
 * A value as its reader will see it: itself where JSON says all of it, else what JSON makes of it (a `Date` is text, a
 * member that is `undefined` is absent). `undefined`: JSON has no text for it. @throws what `JSON.stringify` throws
 */
export function toPlain(value: unknown): Json | undefined {
  // What was looked through is JSON.
  if (isPlain(value, 0)) return value as Json
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? undefined : (JSON.parse(text) as Json)
}

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object':
      return value === null || (depth < deepest && isPlainObject(value, depth + 1))
    default:
      return false
  }
}

function isPlainObject(value: object, depth: number): boolean {
  if ('toJSON' in value) return false
  if (Array.isArray(value)) {
    // By index, since `every` passes over holes, which JSON does not.
    for (let at = 0; at < value.length; at++) if (!isPlain(value[at], depth)) return false
    return true
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const key of Object.keys(value)) if (!isPlain(Reflect.get(value, key), depth)) return false
  return true
}
