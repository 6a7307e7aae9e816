import type { HttpTraits, Owner, Report, Transport, WireCode } from './codec.ts'
import type { Fields } from './fields.ts'
import type { JsonObject } from '../model/json.ts'
import type { RefusalKind } from '../model/refusal.ts'

/** Rewrites one noun on its way to or from the wire. Returns the same object when there is nothing to do. */
export type Transform = (value: JsonObject, report: Report) => JsonObject

/** Whether a revision lacks `kind` of `union`, which another revision has. */
export type Lacks = (union: string, kind: string) => boolean

/** One request of a revision, in terms of its nouns. */
export interface RequestDefinition {
  readonly params: string
  readonly result: string
  /** The feature without which the method does not exist. */
  readonly needs?: string
  /** The extension that defines the method. */
  readonly extension?: string
  /** What the params have to be beyond their fields. */
  readonly valid?: (params: JsonObject) => boolean
  /** Whether params of an ask say what this revision cannot ask. */
  readonly refuses?: (params: JsonObject, lacks: Lacks) => boolean
}

type Table<Value> = Readonly<Record<string, Value>>

/** A published revision, as data. `registry.ts` makes a codec of it. */
export interface Revision {
  readonly revision: string
  readonly lifecycle: 'session' | 'request'
  readonly asking: 'live' | 'rounds'
  readonly batch: boolean
  readonly http: HttpTraits
  /** How the two sides get to know each other. */
  readonly introduction: RequestDefinition
  /** What each feature waits for. */
  readonly features: Table<Owner>
  /** Extensions that may not be used under this revision. */
  readonly withheldExtensions: readonly string[]
  readonly nouns: Table<Fields>
  /** Nouns that come in kinds, told apart by `type`: the noun of each kind. */
  readonly unions: Table<Table<string>>
  readonly requests: Table<RequestDefinition>
  readonly asks: Table<RequestDefinition>
  /** The noun of each notification's params. */
  readonly notifications: Table<string>
  readonly clientNotifications: Table<string>
  /** What takes more than fields that come and go. */
  readonly encoders: Table<Transform>
  readonly decoders: Table<Transform>
  /** Whether results say of what type they are. */
  readonly resultType: boolean
  /** Methods, the introduction's among them, whose results say how long they may be kept. */
  readonly cacheable: readonly string[]
  /** Methods whose name of a target is repeated as a header: the param that holds it. With it, requests carry an envelope in `_meta`. */
  readonly mirrored: Table<string> | undefined
  /** Where this revision's codes differ from those of its lifecycle. */
  readonly refusals: Table<WireCode>
}

interface Change<Value> {
  readonly gains?: Table<Value>
  readonly drops?: readonly string[]
}

interface FieldChange<Value> {
  readonly gains?: Table<Table<Value>>
  readonly drops?: Table<readonly string[]>
}

/** Features by what each waits for. Gaining one that is there already changes what it waits for. */
export interface FeatureGains extends Partial<
  Record<'revision' | 'server' | 'client' | 'both' | Transport, readonly string[]>
> {
  /** Features that come with another. */
  readonly with?: Table<string>
}

type Whole =
  | 'lifecycle'
  | 'asking'
  | 'batch'
  | 'introduction'
  | 'resultType'
  | 'cacheable'
  | 'mirrored'
  | 'withheldExtensions'

/** What a revision changed in the one before it. */
export interface Delta extends Partial<Pick<Revision, Whole>> {
  readonly revision: string
  readonly http?: Partial<HttpTraits>
  readonly features?: { readonly gains?: FeatureGains; readonly drops?: readonly string[] }
  readonly nouns?: FieldChange<Fields[string]>
  readonly unions?: FieldChange<string>
  readonly requests?: Change<RequestDefinition>
  readonly asks?: Change<RequestDefinition>
  readonly notifications?: Change<string>
  readonly clientNotifications?: Change<string>
  readonly encoders?: Change<Transform>
  readonly decoders?: Change<Transform>
  readonly refusals?: {
    readonly gains?: Partial<Record<RefusalKind, WireCode>>
    readonly drops?: readonly RefusalKind[]
  }
}

/** What `make` returns, made when it is first asked for: a revision is not made by whoever only imports it. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/**
 * The revision that differs from `previous` by `delta`.
 * @throws TypeError when the delta drops what was never there: the file would lie about the protocol's history.
 */
export function extend(previous: Revision, delta: Delta): Revision {
  const { http, features, nouns, unions, requests, asks, refusals, ...rest } = delta
  const { notifications, clientNotifications, encoders, decoders, ...whole } = rest
  return {
    ...previous,
    ...whole,
    http: { ...previous.http, ...http },
    features: apply(previous.features, { gains: ownersOf(features?.gains ?? {}), drops: features?.drops ?? [] }),
    nouns: applyFields(previous.nouns, nouns),
    unions: applyFields(previous.unions, unions),
    requests: apply(previous.requests, requests),
    asks: apply(previous.asks, asks),
    notifications: apply(previous.notifications, notifications),
    clientNotifications: apply(previous.clientNotifications, clientNotifications),
    encoders: apply(previous.encoders, encoders),
    decoders: apply(previous.decoders, decoders),
    refusals: apply(previous.refusals, refusals),
  }
}

/** The table of owners that lists of features amount to. */
export function ownersOf(gains: FeatureGains): Table<Owner> {
  const { with: companions = {}, ...lists } = gains
  const owned = Object.entries(lists).flatMap(([owner, names]) =>
    // The keys of `FeatureGains` are the owners' names.
    (names ?? []).map((name): [string, Owner] => [name, owner as Owner]),
  )
  // Names are checked against the list of features by a test, so that a new revision can bring new ones.
  const along = Object.entries(companions).map(([name, other]): [string, Owner] => [name, { with: other as 'tools' }])
  return Object.fromEntries([...owned, ...along])
}

function apply<Value>(table: Table<Value>, change: Change<Value> | undefined): Table<Value> {
  // Most tables stay as they are; this runs whenever the package is loaded.
  if (change === undefined) return table
  const { gains = {}, drops = [] } = change
  if (drops.length === 0) return { ...table, ...gains }
  const left = { ...table }
  for (const name of drops) {
    if (!Object.hasOwn(left, name)) throw new TypeError(`There is no ${name} to drop`)
    delete left[name]
  }
  return { ...left, ...gains }
}

function applyFields<Value>(
  tables: Table<Table<Value>>,
  { gains = {}, drops = {} }: FieldChange<Value> = {},
): Table<Table<Value>> {
  const changed: Record<string, Table<Value>> = { ...tables }
  for (const name of [...Object.keys(drops), ...Object.keys(gains)]) {
    changed[name] = apply(tables[name] ?? {}, { gains: gains[name] ?? {}, drops: drops[name] ?? [] })
  }
  return changed
}
