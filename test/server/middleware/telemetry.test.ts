// Each span and measurement that an operation leaves, and how traces come in and go on.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { fetchHandler, prompt, resource, tool, ToolError } from '../../../src/index.ts'
import { telemetry } from '../../../src/telemetry.ts'
import type { TelemetryOptions } from '../../../src/telemetry.ts'
import { clientOf, eras, serverOf, sure, yes } from '../support.ts'

const spans = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
const meterProvider = new MeterProvider({ readers: [reader] })

api.trace.setGlobalTracerProvider(tracerProvider)
api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
api.propagation.setGlobalPropagator(
  new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
)
beforeEach(() => spans.reset())
after(() => meterProvider.shutdown())

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${parentId}-01`

const serverWith = (options: TelemetryOptions = {}) =>
  serverOf({
    middleware: [telemetry(options)],
    tools: [
      tool('echo', {}, () => 'echo'),
      tool('no', {}, () => {
        throw new ToolError('no')
      }),
      tool(
        'checked',
        { input: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } },
        () => 'fine',
      ),
      tool('inner', {}, () => {
        api.trace.getTracer('app').startActiveSpan('query', (span) => span.end())
        return api.propagation.getActiveBaggage()?.getEntry('user')?.value ?? 'nobody'
      }),
      tool('ask', {}, async (_, ctx) => (await ctx.elicit('sure', sure, 'Sure?')).action),
      tool('report', {}, (_, ctx) => ctx.progress(1)),
    ],
    resources: [resource('doc://one', { name: 'one' }, () => '1')],
    prompts: [
      prompt('hello', {}, () => {
        throw new Error('broken inside')
      }),
    ],
  })

function only(kind = api.SpanKind.SERVER): ReadableSpan {
  const found = spans.getFinishedSpans().filter((span) => span.kind === kind)
  assert.equal(found.length, 1, found.map(({ name }) => name).join())
  return found[0] as ReadableSpan
}

for (const revision of eras) {
  test(`${revision}: a tool's call is a span named by method and tool`, async () => {
    const client = await clientOf(serverWith(), { revision })
    const id = client.nextId()
    await client.request('tools/call', { name: 'echo' })
    const span = only()
    assert.equal(span.name, 'tools/call echo')
    assert.equal(span.status.code, api.SpanStatusCode.UNSET)
    assert.deepEqual(span.attributes, {
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': revision,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'jsonrpc.request.id': String(id),
    })
    assert.equal(span.parentSpanContext, undefined)
  })

  test(`${revision}: a resource's URI is an attribute and no part of the name`, async () => {
    await (await clientOf(serverWith(), { revision })).request('resources/read', { uri: 'doc://one' })
    const span = only()
    assert.equal(span.name, 'resources/read')
    assert.equal(span.attributes['mcp.resource.uri'], 'doc://one')
  })

  test(`${revision}: failures carry the code that the peer is told, or tool_error`, async () => {
    const client = await clientOf(serverWith(), { revision })
    const outcome = async (method: string, name: string) => {
      spans.reset()
      const { error } = await client.request(method, { name })
      const { attributes, status, events } = only()
      assert.equal(status.code, api.SpanStatusCode.ERROR)
      assert.equal(attributes['rpc.response.status_code'], error && String(error.code))
      if (error) assert.equal(status.message, error.message)
      return [attributes['error.type'], events.length]
    }
    assert.deepEqual(await outcome('tools/call', 'no'), ['tool_error', 0])
    assert.deepEqual(await outcome('tools/call', 'checked'), ['tool_error', 0])
    assert.deepEqual(await outcome('tools/call', 'absent'), ['-32602', 0])
    assert.deepEqual(await outcome('prompts/get', 'hello'), ['-32603', 1])
  })

  test(`${revision}: the parent is what _meta names, baggage comes along, and handlers trace within`, async () => {
    const client = await clientOf(serverWith(), { revision })
    const { result } = await client.request('tools/call', { name: 'inner' }, { traceparent, baggage: 'user=ada' })
    assert.deepEqual(result?.['content'], [{ type: 'text', text: 'ada' }])
    const span = only()
    assert.equal(span.spanContext().traceId, traceId)
    assert.equal(span.parentSpanContext?.spanId, parentId)
    assert.equal(only(api.SpanKind.INTERNAL).parentSpanContext?.spanId, span.spanContext().spanId)
  })

  test(`${revision}: progress carries the trace on`, async () => {
    const client = await clientOf(serverWith(), { revision })
    await client.request('tools/call', { name: 'report' }, { traceparent, progressToken: 'p' })
    const { traceId: own, spanId } = only().spanContext()
    assert.deepEqual(client.heard.at(-1)?.params?.['_meta'], { traceparent: `00-${own}-${spanId}-01` })
  })
}

test('a span that is active here is the parent, or a link where _meta names another', async () => {
  const call = async (meta?: { traceparent: string }) => {
    const client = await clientOf(serverWith())
    spans.reset()
    return api.trace.getTracer('app').startActiveSpan('http', async (outer) => {
      await client.request('tools/call', { name: 'echo' }, meta)
      outer.end()
      return { span: only(), outer: outer.spanContext() }
    })
  }
  const alone = await call()
  assert.equal(alone.span.parentSpanContext?.spanId, alone.outer.spanId)
  assert.deepEqual(alone.span.links, [])
  const named = await call({ traceparent })
  assert.equal(named.span.parentSpanContext?.spanId, parentId)
  assert.deepEqual(
    named.span.links.map(({ context }) => context.spanId),
    [named.outer.spanId],
  )
})

test('2025-11-25: a live question is a client span, and the client is told of it', async () => {
  const client = await clientOf(serverWith(), { revision: '2025-11-25', answer: () => yes })
  await client.request('tools/call', { name: 'ask' }, { traceparent })
  const span = only(api.SpanKind.CLIENT)
  assert.equal(span.name, 'elicitation/create')
  assert.equal(span.parentSpanContext?.spanId, only().spanContext().spanId)
  const asked = client.heard.find(({ method }) => method === 'elicitation/create')
  assert.deepEqual(asked?.params?.['_meta'], { traceparent: `00-${traceId}-${span.spanContext().spanId}-01` })
  assert.equal(span.status.code, api.SpanStatusCode.UNSET)
})

test('2025-11-25: a question that fails says so', async () => {
  const client = await clientOf(serverWith(), { revision: '2025-11-25', answer: () => undefined })
  await client.request('tools/call', { name: 'ask' })
  assert.equal(only(api.SpanKind.CLIENT).attributes['error.type'], 'AskFailed')
  assert.equal(only().attributes['error.type'], 'tool_error')
})

test('2026-07-28: a question in rounds is no failure', async () => {
  const client = await clientOf(serverWith())
  const { result } = await client.request('tools/call', { name: 'ask' })
  assert.equal(result?.['resultType'], 'input_required')
  assert.equal(only().status.code, api.SpanStatusCode.UNSET)
})

const modernBody = (name: string, meta = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      ...meta,
    },
  },
})

/** Posts to a server's fetch handler, on either era. */
function posting(handler: (request: Request) => Promise<Response>) {
  return (body: object, headers: Record<string, string> = {}) =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify(body),
      }),
    )
}

test('over HTTP the headers name the parent, and how the operation was carried is told, on both eras', async () => {
  const post = posting(fetchHandler(serverWith()))
  const carried = { 'network.transport': 'tcp', 'network.protocol.name': 'http' }
  const check = (): void => {
    const span = only()
    assert.equal(span.parentSpanContext?.spanId, parentId)
    for (const [name, value] of Object.entries(carried)) assert.equal(span.attributes[name], value)
    spans.reset()
  }
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  await post(modernBody('echo'), { ...modern, traceparent })
  check()
  const other = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  await post(modernBody('echo', { traceparent }), { ...modern, traceparent: other })
  check()

  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const opened = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo' } }, { ...session, traceparent })
  check()
})

test('a call that is cancelled is told as such', async () => {
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const server = serverWith().tool('wait', {}, (_, ctx) => {
    begin()
    return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))))
  })
  const client = await clientOf(server)
  const requestId = client.nextId()
  void client.request('tools/call', { name: 'wait' })
  await begun
  client.notify('notifications/cancelled', { requestId })
  while (spans.getFinishedSpans().length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(only().attributes['error.type'], 'cancelled')
})

test('durations are measured by method and tool; a name that the caller made up is none to count by', async () => {
  const client = await clientOf(serverWith({ meterProvider }))
  await client.request('tools/call', { name: 'echo' })
  await client.request('tools/call', { name: 'no' })
  await client.request('tools/call', { name: 'made-up' })
  await client.request('tools/list')
  await reader.forceFlush()
  const [metric] = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  assert.equal(metric?.descriptor.name, 'mcp.server.operation.duration')
  assert.equal(metric.descriptor.unit, 's')
  const { buckets } = metric.dataPoints[0]?.value as { buckets: { boundaries: number[] } }
  assert.deepEqual([buckets.boundaries[0], buckets.boundaries.at(-1)], [0.01, 300])
  const about = {
    'mcp.protocol.version': '2026-07-28',
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
  }
  assert.deepEqual(
    metric.dataPoints.map(({ attributes }) => attributes),
    [
      { ...about, 'gen_ai.tool.name': 'echo' },
      { ...about, 'gen_ai.tool.name': 'no', 'error.type': 'tool_error' },
      { ...about, 'error.type': '-32602', 'rpc.response.status_code': '-32602' },
      { 'mcp.protocol.version': '2026-07-28', 'mcp.method.name': 'tools/list' },
    ],
  )
})

test('a stream that listens leaves neither span nor measurement', async () => {
  const client = await clientOf(serverWith())
  const requestId = client.nextId()
  void client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })
  while (client.heard.length === 0) await new Promise((resolve) => setImmediate(resolve))
  client.notify('notifications/cancelled', { requestId })
  await client.request('tools/call', { name: 'echo' })
  assert.deepEqual(
    spans.getFinishedSpans().map(({ name }) => name),
    ['tools/call echo'],
  )
})
