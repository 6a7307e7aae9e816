import { createEnvelope } from './envelope.ts'
import { createCheck } from './fields.ts'
import { createProjector } from './project.ts'
import { resultConvert } from './results.ts'
import { codeOf } from './refusals.ts'
import type { Codec, Convert, RequestCodec } from './codec.ts'
import type { RequestDefinition, Revision } from './define.ts'
import type { Projector, Superset } from './project.ts'
import type { Feature } from '../model/feature.ts'

/** Makes the codec of `revision` among the others that `superset` was made of. */
export function createCodec(revision: Revision, superset: Superset): Codec {
  const projector = createProjector(revision, superset)
  const noun = (name: string): Convert => whole(name, revision, projector)
  const clientCapabilities = noun('ClientCapabilities')
  const implementation = noun('Implementation')
  const request = (method: string, definition: RequestDefinition): RequestCodec =>
    createRequest(method, definition, revision, projector)
  const introduction = request(introductionOf(revision), revision.introduction)
  // Names are checked against the list of features by a test, so that a new revision can bring new ones.
  const owners = new Map(Object.entries(revision.features)) as Codec['owners'] & Map<string, never>
  return {
    revision: revision.revision,
    lifecycle: revision.lifecycle,
    asking: revision.asking,
    batch: revision.batch,
    http: revision.http,
    features: new Set(owners.keys()),
    owners,
    withheldExtensions: new Set(revision.withheldExtensions),
    requests: mapOf(revision.requests, (definition, method) => request(method, definition)),
    asks: mapOf(revision.asks, (definition, method) => request(method, definition)),
    notifications: mapOf(revision.notifications, (params) => ({ params: noun(params) })),
    clientNotifications: mapOf(revision.clientNotifications, (params) => ({ params: noun(params) })),
    foreign: request('', { params: '', result: '' }),
    introduction,
    description: introduction.result,
    clientCapabilities,
    serverCapabilities: noun('ServerCapabilities'),
    implementation,
    envelope: revision.mirrored && createEnvelope(revision.mirrored, clientCapabilities, implementation),
    codeOf: (kind, profile) => revision.refusals[kind] ?? codeOf(kind, revision.lifecycle, profile),
  }
}

/** The method by which the two sides get to know each other. */
function introductionOf(revision: Revision): string {
  return revision.lifecycle === 'session' ? 'initialize' : 'server/discover'
}

function mapOf<Value, Result>(
  table: Readonly<Record<string, Value>>,
  make: (value: Value, key: string) => Result,
): Map<string, Result> {
  return new Map(Object.entries(table).map(([key, value]) => [key, make(value, key)]))
}

/** A noun that is carried as it came, but for what its decoder does, and projected on its way out. */
function whole(noun: string, revision: Revision, projector: Projector): Convert {
  const encode = projector.encoder(noun)
  const decode = revision.decoders[noun]
  return {
    decode: decode ? (wire) => decode(wire, ignore) : (wire) => wire,
    encode: encode ?? ((model) => model),
  }
}

function createRequest(
  method: string,
  definition: RequestDefinition,
  revision: Revision,
  projector: Projector,
): RequestCodec {
  const { params, result, needs, extension, valid, refuses } = definition
  const check = createCheck(revision.nouns[params] ?? {})
  return {
    check: valid ? (wire) => check(wire) ?? (valid(wire) ? undefined : 'MalformedParams') : check,
    params: { encode: projector.encoder(params) ?? ((model) => model), decode: projector.stripper(params, 'all') },
    result: resultConvert(method, result, revision, projector),
    refuses: (model) => refuses?.(model, projector.lacks) ?? false,
    ...(extension === undefined ? {} : { extension }),
    // See `owners` in `createCodec` on names.
    ...(needs === undefined ? {} : { needs: needs as Feature }),
  }
}

const ignore = (): void => {}
