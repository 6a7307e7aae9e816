import { own } from '../model/json.ts'
import type { Convert } from './codec.ts'
import type { Revision } from './define.ts'
import type { Projector } from './project.ts'
import type { JsonObject } from '../model/json.ts'

/**
 * The pair for the results of `method`. Where results say their type, `complete` is added on the way out and taken away
 * on the way in, an absent one meaning the same (basic, result type); a result of another type is left to its own noun.
 * Where they may be kept, the hints that were not given say: not at all, and by nobody else (caching).
 */
export function resultConvert(method: string, noun: string, revision: Revision, projector: Projector): Convert {
  const encodeBody = projector.encoder(noun)
  const decodeBody = revision.decoders[noun]
  const strip = projector.stripper(noun, 'marks')
  if (!revision.resultType) {
    return {
      encode: (model, report) => withoutType(encodeBody ? encodeBody(model, report) : model),
      decode: (wire) => {
        const known = withoutType(strip(wire))
        return decodeBody ? decodeBody(known, ignore) : known
      },
    }
  }
  const encodeQuestion = projector.encoder('InputRequiredResult')
  const cacheable = revision.cacheable.includes(method)
  return {
    encode: (model, report) => {
      const type = own(model, 'resultType')
      if (type !== undefined && type !== 'complete') {
        return type === 'input_required' && encodeQuestion ? encodeQuestion(model, report) : model
      }
      const body = encodeBody ? encodeBody(model, report) : model
      return cacheable
        ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...defined(body) }
        : { resultType: 'complete', ...body }
    },
    decode: (wire) => {
      const known = strip(own(wire, 'resultType') === 'complete' ? withoutType(wire) : wire)
      return decodeBody ? decodeBody(known, ignore) : known
    },
  }
}

const ignore = (): void => {}

function withoutType(result: JsonObject): JsonObject {
  if (!Object.hasOwn(result, 'resultType')) return result
  const { resultType: _, ...rest } = result
  return rest
}

/** `body` with no hint that is there and undefined, which would hide the default. */
function defined(body: JsonObject): JsonObject {
  if (body['ttlMs'] !== undefined && body['cacheScope'] !== undefined) return body
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}
