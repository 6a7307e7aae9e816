import assert from 'node:assert/strict'
import { test } from 'node:test'
import { features } from '../../src/model/feature.ts'
import { createCodecs, revisions } from '../../src/codec/registry.ts'
import { schemaOrSkip, type OfficialSchema } from './official-schema.ts'
import type { Revision } from '../../src/codec/define.ts'

/** Where the official schemas define a noun, if not under its own name: first match counts. */
const homes: Readonly<Record<string, readonly (readonly string[])[]>> = {
  InitializeParams: [['InitializeRequestParams'], ['InitializeRequest', 'params']],
  Introduction: [['InitializeResult'], ['DiscoverResult']],
  RootsCapability: [['ClientCapabilities', 'roots']],
  SamplingCapability: [['ClientCapabilities', 'sampling']],
  ElicitationCapability: [['ClientCapabilities', 'elicitation']],
  ListParams: [['PaginatedRequestParams'], ['PaginatedRequest', 'params']],
  CallToolParams: [['CallToolRequestParams'], ['CallToolRequest', 'params']],
  ReadResourceParams: [['ReadResourceRequestParams'], ['ReadResourceRequest', 'params']],
  GetPromptParams: [['GetPromptRequestParams'], ['GetPromptRequest', 'params']],
  CompleteParams: [['CompleteRequestParams'], ['CompleteRequest', 'params']],
  LogParams: [['LoggingMessageNotificationParams'], ['LoggingMessageNotification', 'params']],
  ProgressParams: [['ProgressNotificationParams'], ['ProgressNotification', 'params']],
  CancelledParams: [['CancelledNotificationParams'], ['CancelledNotification', 'params']],
  ResourceUpdatedParams: [['ResourceUpdatedNotificationParams'], ['ResourceUpdatedNotification', 'params']],
  SampleParams: [['CreateMessageRequestParams'], ['CreateMessageRequest', 'params']],
  SampleResult: [['CreateMessageResult']],
  ElicitParams: [['ElicitRequestParams'], ['ElicitRequest', 'params']],
  Task: [['GetTaskResult']],
  TaskParams: [['GetTaskRequest', 'params']],
  ListenParams: [['SubscriptionsListenRequestParams']],
  AcknowledgedParams: [['SubscriptionsAcknowledgedNotificationParams']],
}

/** Nouns that are not one definition: made of several, of none, or of an extension. */
const elsewhere = new Set([
  'EmptyParams',
  'EmptyResult',
  'ResourceContents',
  'Reference',
  'SetLevelParams',
  'SubscribeParams',
])

function membersOf(noun: string, schema: OfficialSchema): string[] | undefined {
  const home = (homes[noun] ?? [[noun]]).find(
    ([definition]) => definition !== undefined && definition in schema.definitions,
  )
  if (!home) return undefined
  const [definition = '', ...path] = home
  return schema.members(definition, ...path)
}

/** What the tables leave to others: the type of a result, and members that only the older way of writing schemas spells out. */
function expected(noun: string, members: readonly string[]): string[] {
  const oursToo = new Set(['InputRequiredResult'])
  return members.filter((name) => oursToo.has(noun) || name !== 'resultType')
}

/** What a revision's noun has on purpose beside the definition of that name. */
function besides(noun: string, { lifecycle, nouns }: Revision): string[] {
  const tasks = 'ttl' in (nouns['Task'] ?? {})
  // `CreateTaskResult` is the other answer of `tools/call`, and its name is all that tells it apart.
  if (noun === 'CallToolResult') return tasks ? ['task'] : []
  // Used in practice before a schema listed it; the schemas are open.
  const declares = noun === 'ServerCapabilities' || noun === 'ClientCapabilities'
  return declares && lifecycle === 'session' ? ['extensions'] : []
}

const methodsOf = (schema: OfficialSchema, union: string): string[] => {
  const found = (schema.definitions[union]?.anyOf ?? [schema.definitions[union] ?? {}]).map((node) => {
    const definition = node.$ref ? schema.definitions[node.$ref.split('/').at(-1) ?? ''] : node
    return String(definition?.properties?.['method']?.const)
  })
  return found.toSorted()
}

const keys = (table: object): string[] => Object.keys(table).toSorted()

for (const revision of revisions()) {
  test(`${revision.revision}: every noun has the fields of the official schema`, (context) => {
    const schema = schemaOrSkip(revision.revision, context)
    if (!schema) return
    let compared = 0
    for (const [noun, fields] of Object.entries(revision.nouns)) {
      if (elsewhere.has(noun)) continue
      const members = membersOf(noun, schema)
      if (!members) continue
      compared++
      // Params had no `_meta` of their own in the older schemas; any request has one in `JSONRPCRequest`.
      const missing =
        noun.endsWith('Params') && !members.includes('_meta') && revision.lifecycle === 'session' ? ['_meta'] : []
      const also = besides(noun, revision)
      assert.deepEqual(keys(fields), [...expected(noun, members), ...missing, ...also].toSorted(), noun)
    }
    assert.ok(compared > 25, `only ${compared} nouns were compared`)
  })

  test(`${revision.revision}: the methods are those of the official schema`, (context) => {
    const schema = schemaOrSkip(revision.revision, context)
    if (!schema) return
    const core = (table: Revision['requests']): string[] =>
      keys(Object.fromEntries(Object.entries(table).filter(([, { extension }]) => !extension)))
    const lifecycle = new Set(['initialize', 'server/discover'])
    assert.deepEqual(
      core(revision.requests),
      methodsOf(schema, 'ClientRequest').filter((method) => !lifecycle.has(method)),
    )
    assert.deepEqual(
      core(revision.asks),
      methodsOf(schema, 'ServerRequest' in schema.definitions ? 'ServerRequest' : 'InputRequest'),
    )
    assert.deepEqual(
      keys(revision.notifications).filter((name) => name !== 'notifications/tasks'),
      methodsOf(schema, 'ServerNotification'),
    )
    assert.deepEqual(keys(revision.clientNotifications), methodsOf(schema, 'ClientNotification'))
  })

  test(`${revision.revision}: every capability of the official schema is a feature, and the other way round`, (context) => {
    const schema = schemaOrSkip(revision.revision, context)
    if (!schema) return
    const declared = (owner: string): string[] =>
      Object.entries(revision.features)
        .filter(([, by]) => by === owner || by === 'both')
        .map(([name]) => name)
        .toSorted()
    const paths = (definition: string): string[] => capabilityPaths(schema, definition, []).toSorted()
    const extensions = besides('ClientCapabilities', revision)
    assert.deepEqual(declared('server'), [...paths('ServerCapabilities'), ...extensions].toSorted())
    const client = declared('client').map((name) => name.replace(/^client\./, ''))
    // A client declares forms by declaring elicitation, and context by declaring sampling, until it can say so.
    assert.deepEqual(client.toSorted(), [...paths('ClientCapabilities'), ...extensions].toSorted())
  })
}

/** Paths to what a side may declare; groups such as `tasks.requests` declare nothing themselves. */
function capabilityPaths(schema: OfficialSchema, definition: string, path: string[]): string[] {
  return schema.members(definition, ...path).flatMap((name) => {
    const here = [...path, name]
    const group = name === 'requests' || here.at(-2) === 'requests'
    return [...(group ? [] : [here.join('.')]), ...capabilityPaths(schema, definition, here)]
  })
}

test('features: what revisions define and what the model lists is the same', () => {
  const defined = new Set(revisions().flatMap((revision) => Object.keys(revision.features)))
  assert.deepEqual([...defined].toSorted(), [...features].toSorted())
})

test('what a request needs is a feature of its revision', () => {
  for (const codec of createCodecs().all) {
    for (const [method, request] of [...codec.requests, ...codec.asks]) {
      assert.ok(request.needs === undefined || codec.features.has(request.needs), `${codec.revision} ${method}`)
    }
  }
})

test('a revision refers to nouns that it has', () => {
  for (const revision of revisions()) {
    const known = (name: string): void =>
      assert.ok(name in revision.nouns || name in revision.unions, `${revision.revision}: ${name}`)
    for (const request of [
      revision.introduction,
      ...Object.values(revision.requests),
      ...Object.values(revision.asks),
    ]) {
      known(request.params)
      known(request.result)
    }
    for (const noun of [...Object.values(revision.notifications), ...Object.values(revision.clientNotifications)])
      known(noun)
    for (const noun of Object.values(revision.unions).flatMap((kinds) => Object.values(kinds))) known(noun)
    for (const fields of Object.values(revision.nouns)) for (const { of } of Object.values(fields)) if (of) known(of)
    for (const noun of [...Object.keys(revision.encoders), ...Object.keys(revision.decoders)]) known(noun)
  }
})
