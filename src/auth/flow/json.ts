import { isObject, own, type JsonObject } from '../../model/json.ts'

/** The JSON object that `text` is, or undefined. */
export function parseObject(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A member of `object` that is a text with something in it. */
export function textOf(object: JsonObject, name: string): string | undefined {
  const value = own(object, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A member of `object` that is a list, as far as it holds texts. */
export function textsOf(object: JsonObject, name: string): readonly string[] | undefined {
  const value = own(object, name)
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined
}

/** A member of `object` that is a finite number, or the text of one. */
export function numberOf(object: JsonObject, name: string): number | undefined {
  const value = own(object, name)
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
