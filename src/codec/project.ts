import { isObject, own } from '../model/json.ts'
import { placeholder } from './projection.ts'
import type { Report } from './codec.ts'
import type { Revision, Transform } from './define.ts'
import type { Field } from './fields.ts'
import type { Json, JsonObject } from '../model/json.ts'

/** Everything that any of some revisions defines. What is outside it is nobody's, and is carried. */
export interface Superset {
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, Field>>
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>
}

/** The superset of `revisions`. */
export function supersetOf(revisions: readonly Revision[]): Superset {
  const fields = new Map<string, Map<string, Field>>()
  const kinds = new Map<string, Set<string>>()
  for (const revision of revisions) {
    for (const [noun, defined] of Object.entries(revision.nouns)) {
      const known = fields.get(noun) ?? new Map<string, Field>()
      for (const [name, field] of Object.entries(defined))
        known.set(name, field.mark ? field : (known.get(name) ?? field))
      fields.set(noun, known)
    }
    for (const [union, defined] of Object.entries(revision.unions)) {
      kinds.set(union, new Set([...(kinds.get(union) ?? []), ...Object.keys(defined)]))
    }
  }
  return { fields, kinds }
}

type Step = (value: Json, report: Report) => Json

/** Compiles the projections of one revision. */
export interface Projector {
  /** Rewrites a noun of the model for the wire; `undefined` where the revision can say all of it. */
  encoder(noun: string): Transform | undefined
  /** Takes away what the revision does not define of a noun that came over the wire: all of it, or marks only. */
  stripper(noun: string, what: 'all' | 'marks'): (value: JsonObject) => JsonObject
  /** Whether the revision lacks a kind that another has. */
  lacks(union: string, kind: string): boolean
}

/** The projections from `superset` to `revision`. Everything is compiled on first mention, and only once. */
export function createProjector(revision: Revision, superset: Superset): Projector {
  const compiled = new Map<string, Transform | undefined>()

  function encoder(noun: string): Transform | undefined {
    if (!compiled.has(noun)) compiled.set(noun, noun in revision.unions ? unionEncoder(noun) : nounEncoder(noun))
    return compiled.get(noun)
  }

  function nounEncoder(noun: string): Transform | undefined {
    const defined = revision.nouns[noun] ?? {}
    const known = superset.fields.get(noun) ?? new Map<string, Field>()
    const custom = revision.encoders[noun]
    const drops = new Set([...known.keys()].filter((name) => !Object.hasOwn(defined, name)))
    const losses = [...drops].filter((name) => !known.get(name)?.mark)
    const reported = losses.map((name) => [name, `${noun}.${name}`] as const)
    const steps = Object.entries(defined).flatMap(([name, field]): [string, Step][] => {
      const step = stepOf(field)
      return step ? [[name, step]] : []
    })
    if (!custom && drops.size === 0 && steps.length === 0) return undefined
    return (model, report) => {
      const value = custom ? custom(model, report) : model
      for (const [name, path] of reported) if (own(value, name) !== undefined) report('field-dropped', path)
      return rewrite(value, drops, changesOf(value, steps, report))
    }
  }

  function unionEncoder(union: string): Transform | undefined {
    const kinds = new Map(Object.entries(revision.unions[union] ?? {}).map(([kind, noun]) => [kind, encoder(noun)]))
    const missing = new Set([...(superset.kinds.get(union) ?? [])].filter((kind) => !kinds.has(kind)))
    if (missing.size === 0 && [...kinds.values()].every((encode) => encode === undefined)) return undefined
    const encodeText = kinds.get('text')
    return (block, report) => {
      const kind = own(block, 'type')
      if (typeof kind !== 'string') return block
      if (!missing.has(kind)) return kinds.get(kind)?.(block, report) ?? block
      const instead = placeholder(block)
      report(instead.rule, union)
      return encodeText?.(instead.block, report) ?? instead.block
    }
  }

  function stepOf(field: Field): Step | undefined {
    if (field.shape === 'asks') return asksStep()
    const encode = field.of === undefined ? undefined : encoder(field.of)
    if (!encode) return undefined
    const item: Step = (value, report) => (isObject(value) ? encode(value, report) : value)
    if (field.shape === 'one') return item
    return (value, report) =>
      Array.isArray(value)
        ? mapSame(value, (member) => item(member, report))
        : field.shape === 'many'
          ? value
          : item(value, report)
  }

  function asksStep(): Step | undefined {
    const byMethod = new Map(Object.entries(revision.asks).map(([method, ask]) => [method, encoder(ask.params)]))
    if ([...byMethod.values()].every((encode) => encode === undefined)) return undefined
    const encodeAsk = (ask: Json, report: Report): Json => {
      if (!isObject(ask)) return ask
      const method = own(ask, 'method')
      const params = own(ask, 'params')
      const encode = typeof method === 'string' ? byMethod.get(method) : undefined
      return encode && isObject(params) ? { ...ask, params: encode(params, report) } : ask
    }
    return (value, report) =>
      isObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([key, ask]) => [key, ask === undefined ? ask : encodeAsk(ask, report)]),
          )
        : value
  }

  function stripper(noun: string, what: 'all' | 'marks'): (value: JsonObject) => JsonObject {
    const defined = revision.nouns[noun] ?? {}
    const known = [...(superset.fields.get(noun) ?? [])]
    const names = known.filter(([name, field]) => !Object.hasOwn(defined, name) && (what === 'all' || field.mark))
    const drops = new Set(names.map(([name]) => name))
    return drops.size === 0 ? (value) => value : (value) => rewrite(value, drops, nothing)
  }

  const lacks = (union: string, kind: string): boolean =>
    (superset.kinds.get(union)?.has(kind) ?? false) && !Object.hasOwn(revision.unions[union] ?? {}, kind)

  return { encoder, stripper, lacks }
}

const nothing: ReadonlyMap<string, Json> = new Map()

/** The members of `value` that some step makes different. */
function changesOf(
  value: JsonObject,
  steps: readonly (readonly [string, Step])[],
  report: Report,
): ReadonlyMap<string, Json> {
  let changes: Map<string, Json> | undefined
  for (const [name, step] of steps) {
    const before = own(value, name)
    const after = before === undefined ? undefined : step(before, report)
    if (after !== undefined && after !== before) changes = (changes ?? new Map<string, Json>()).set(name, after)
  }
  return changes ?? nothing
}

/** `value` without `drops` and with `changed` members; itself when that makes no difference. */
export function rewrite(value: JsonObject, drops: ReadonlySet<string>, changed: ReadonlyMap<string, Json>): JsonObject {
  let same = changed.size === 0
  if (same) for (const name of drops) if (Object.hasOwn(value, name)) same = false
  if (same) return value
  const entries = Object.entries(value).filter(([name]) => !drops.has(name))
  // Not assignment: a member called `__proto__` has to stay a member.
  return Object.fromEntries(entries.map(([name, member]) => [name, changed.has(name) ? changed.get(name) : member]))
}

/** `list` mapped; itself when nothing changed. */
function mapSame(list: readonly Json[], map: (member: Json) => Json): readonly Json[] {
  let changed = false
  const mapped = list.map((member) => {
    const after = map(member)
    if (after !== member) changed = true
    return after
  })
  return changed ? mapped : list
}
