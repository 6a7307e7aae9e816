import { own } from '../model/json.ts'
import { rewrite } from './project.ts'
import type { Convert } from './codec.ts'
import type { Revision, Transform } from './define.ts'
import type { Projector } from './project.ts'
import type { Json, JsonObject } from '../model/json.ts'

/** The pair for the results of `method`, which are made as `noun` says. */
export function resultConvert(method: string, noun: string, revision: Revision, projector: Projector): Convert {
  const encode = projector.encoder(noun) ?? same
  const decode = revision.decoders[noun] ?? same
  const strip = projector.stripper(noun, 'marks')
  const body: Convert = { encode, decode: (wire) => decode(strip(withoutType(wire)), ignore) }
  if (!revision.resultType) return { ...body, encode: (model, report) => withoutType(encode(model, report)) }
  return typed(body, projector.encoder('InputRequiredResult') ?? same, revision.cacheable.includes(method))
}

/**
 * Results that say of what type they are: `complete` is added on the way out and taken away on the way in, an absent one
 * meaning the same (basic, result type). A result of another type is none of the method's: it asks for input, or is what
 * an extension made of it. Where results may be kept, hints that were not given say: not at all, and by nobody else
 * (caching).
 */
function typed(body: Convert, encodeQuestion: Transform, cacheable: boolean): Convert {
  const defaults = cacheable ? { ttlMs: 0, cacheScope: 'private' } : undefined
  return {
    encode: (model, report) => {
      const type = own(model, 'resultType')
      // A question is nothing to keep (multi round-trip requests).
      if (type === 'input_required') return rewrite(encodeQuestion(model, report), hints, nothing)
      if (type !== undefined && type !== 'complete') return model
      const complete = body.encode(model, report)
      return defaults
        ? { resultType: 'complete', ...defaults, ...withoutUndefined(complete) }
        : { resultType: 'complete', ...complete }
    },
    decode: (wire) => {
      const type = own(wire, 'resultType')
      return type === undefined || type === 'complete' ? body.decode(wire) : wire
    },
  }
}

const same: Transform = (value) => value
const ignore = (): void => {}
const hints: ReadonlySet<string> = new Set(['ttlMs', 'cacheScope'])
const nothing: ReadonlyMap<string, Json> = new Map()

function withoutType(result: JsonObject): JsonObject {
  if (!Object.hasOwn(result, 'resultType')) return result
  const { resultType: _, ...rest } = result
  return rest
}

/** A hint that is there and undefined would hide the default. */
function withoutUndefined(body: JsonObject): JsonObject {
  if (body['ttlMs'] !== undefined && body['cacheScope'] !== undefined) return body
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}
