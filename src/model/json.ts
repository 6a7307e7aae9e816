/** Any value that JSON can express. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object. A member that is `undefined` is absent. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Whether `value` is an object in the sense of JSON: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The own member `key` of `object`; never one inherited from a prototype. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
