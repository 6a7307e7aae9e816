import { isObject, own } from '../model/json.ts'
import { logLevels } from '../model/nouns.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { RefusalKind } from '../model/refusal.ts'

/** What a revision's file says of one field of a noun. */
export interface Field {
  /** The noun or union that the value is made of. */
  readonly of?: string
  /** How the value is made of it; `asks`: a map of requests that a server asks. */
  readonly shape?: 'one' | 'many' | 'oneOrMany' | 'asks'
  /** What a value in a request's params must be. */
  readonly is?: (value: Json) => boolean
  /** Whether a request's params must have it. */
  readonly must?: true
  /** The refusal that a missing or wrong value deserves; `MalformedParams` unless told. */
  readonly refusal?: RefusalKind
  /** Says something of the message rather than of its subject, so leaving it out is no loss. */
  readonly mark?: true
}

/** The fields of a noun, by name. */
export type Fields = Readonly<Record<string, Field>>

const isText = (value: Json): boolean => typeof value === 'string'
const isNumber = (value: Json): boolean => typeof value === 'number'
const isFlag = (value: Json): boolean => typeof value === 'boolean'
const isMapOf =
  (is: (value: Json) => boolean) =>
  (value: Json): boolean =>
    isObject(value) && Object.values(value).every((member) => member !== undefined && is(member))

/** Any JSON. */
export const anything: Field = {}
/** A field that only marks its object. */
export const mark: Field = { mark: true }
/** A string. */
export const text: Field = { is: isText }
/** A number. */
export const number: Field = { is: isNumber }
/** An object. */
export const object: Field = { is: isObject }
/** An object whose members are strings. */
export const textMap: Field = { is: isMapOf(isText) }
/** An object whose members are objects. */
export const objectMap: Field = { is: isMapOf(isObject) }

/** A value made of one `noun`, or of whatever kind of the union it is. */
export const one = (noun: string): Field => ({ of: noun, shape: 'one', is: isObject })
/** A list of them. */
export const many = (noun: string): Field => ({ of: noun, shape: 'many', is: Array.isArray })
/** One of them, or a list. */
export const oneOrMany = (noun: string): Field => ({ of: noun, shape: 'oneOrMany' })
/** A map of requests that ask the client, by keys of the server's choice. */
export const asks: Field = { shape: 'asks' }
/** `field`, and a request without it is malformed. */
export const must = (field: Field): Field => ({ ...field, must: true })
/** `field`, whose wrong value deserves a refusal of its own. */
export const or = (field: Field, refusal: RefusalKind): Field => ({ ...field, refusal })
/** `field`, unreported where it is left out. */
export const quiet = (field: Field): Field => ({ ...field, mark: true })

/** One of the eight severities of RFC 5424. */
export const logLevel: Field = { is: (value) => logLevels.some((level) => level === value), refusal: 'BadLogLevel' }

/** A program that names itself. */
export const named: Field = {
  ...one('Implementation'),
  is: (value) => isObject(value) && typeof own(value, 'name') === 'string',
}

/** What a completion is for: a prompt's argument or a template's variable. */
export const reference: Field = {
  of: 'Reference',
  shape: 'one',
  is: (value) =>
    isObject(value) &&
    ((own(value, 'type') === 'ref/prompt' && typeof own(value, 'name') === 'string') ||
      (own(value, 'type') === 'ref/resource' && typeof own(value, 'uri') === 'string')),
}

/** What has been typed of the value that a completion is for. */
export const partial: Field = {
  is: (value) => isObject(value) && typeof own(value, 'name') === 'string' && typeof own(value, 'value') === 'string',
}

/** The arguments that a completion may look at. */
export const completionContext: Field = {
  is: (value) => isObject(value) && isAbsentOr(own(value, 'arguments'), isMapOf(isText)),
}

/** How long a task may live, in milliseconds. */
export const taskOptions: Field = { is: (value) => isObject(value) && isAbsentOr(own(value, 'ttl'), isNumber) }

/** The changes that a listener wants to hear of; kinds that nobody knows may be anything. */
export const listenFilter: Field = {
  is: (value) =>
    isObject(value) &&
    ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'].every((key) =>
      isAbsentOr(own(value, key), isFlag),
    ) &&
    ['resourceSubscriptions', 'taskIds'].every((key) =>
      isAbsentOr(own(value, key), (names) => Array.isArray(names) && names.every(isText)),
    ),
}

/** The opaque text that a retry brings back: a lost or emptied one is as good as forged. */
export const sealedState: Field = {
  is: (value) => typeof value === 'string' && value !== '',
  refusal: 'TamperedRequestState',
}

function isAbsentOr(value: Json | undefined, is: (value: Json) => boolean): boolean {
  return value === undefined || is(value)
}

/** The check that params of a noun have its shape: the first refusal in the order of the fields, if any. */
export function createCheck(fields: Fields): (params: JsonObject) => RefusalKind | undefined {
  const checks = Object.entries(fields).filter(([, field]) => field.is !== undefined || field.must)
  return (params) => {
    for (const [name, field] of checks) {
      const value = own(params, name)
      const wrong = value === undefined ? field.must : field.is?.(value) === false
      if (wrong) return field.refusal ?? 'MalformedParams'
    }
    return undefined
  }
}
