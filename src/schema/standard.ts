import type { Json, JsonObject } from '../model/json.ts'

/** What a schema library reports of a value that does not fit. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a schema library says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/**
 * A schema of any library that follows Standard Schema (version 1): Zod, Valibot, ArkType and others. `jsonSchema` is
 * its sister, Standard JSON Schema; without it the JSON Schema has to be given by hand.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: StandardConverter | undefined
  }
}

/** How a library says what its schema takes in, and what comes out, as JSON Schema. Both throw for what cannot be said. */
export interface StandardConverter {
  readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>
  readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>
}

/** Whatever describes a value here: a schema of a library, or plain JSON Schema. */
export type AnySchema = StandardSchema | JsonObject

type Before<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer Input }
    ? Input
    : unknown
  : unknown
type After<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : unknown
  : unknown

/** What a handler is given for its input schema `S`: arguments that were checked, and transformed where `S` does so. */
export type InferInput<S> = S extends StandardSchema ? After<S> : S extends JsonObject ? JsonObject : unknown

/** Any value. Unlike `unknown` it leaves the other members of a union in place, so that literals in it keep their types. */
type Anything = {} | null | undefined

/** What a handler may return for its output schema `S`, before that checks and transforms it. */
export type InferOutput<S> = S extends StandardSchema ? Before<S> & Anything : Anything

/** What a caller passes for an input schema `S`. */
export type InferArguments<S> = S extends StandardSchema ? Before<S> : S extends JsonObject ? JsonObject : unknown

/** What a caller gets for an output schema `S`. */
export type InferStructured<S> = S extends StandardSchema ? After<S> : Json

/** Whether `schema` belongs to a library that follows Standard Schema. Some of their schemas are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const kind = typeof schema
  if ((kind !== 'object' && kind !== 'function') || schema === null) return false
  const standard: unknown = Reflect.get(Object(schema), '~standard')
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function'
}
