// What is set up for the process only after the server is there.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import * as api from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { tool } from '../../../src/index.ts'
import { telemetry } from '../../../src/telemetry.ts'
import { clientOf, serverOf } from '../support.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
const meterProvider = new MeterProvider({ readers: [reader] })

afterEach(() => {
  api.trace.disable()
  api.metrics.disable()
  api.propagation.disable()
})
after(() => meterProvider.shutdown())

const tools = [
  tool('echo', {}, () => 'echo'),
  tool('report', {}, (_, ctx) => {
    ctx.progress(1)
    return 'done'
  }),
]
const called = async (name: string) => {
  const client = await clientOf(serverOf({ middleware: [telemetry()], tools }), { revision: '2026-07-28' })
  return { client, call: (meta?: Record<string, unknown>) => client.request('tools/call', { name }, meta as never) }
}

/** Sets up a tracer. @returns the way to tell the names of its spans */
function trace(): () => readonly string[] {
  const spans = new InMemorySpanExporter()
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  return () => spans.getFinishedSpans().map(({ name }) => name)
}

test('a tracer that is set up late sees what is called from then on', async () => {
  const { call } = await called('echo')
  await call()
  const names = trace()
  await call()
  assert.deepEqual(names(), ['tools/call echo'])
})

test('a tracer that is let go sees nothing any more, and one that is set up after it sees the rest', async () => {
  const early = trace()
  const { call } = await called('echo')
  await call()
  api.trace.disable()
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  await call()
  const late = trace()
  await call()
  assert.deepEqual(early(), ['tools/call echo'])
  assert.deepEqual(late(), ['tools/call echo'])
})

test('a meter that is set up late measures what is called from then on', async () => {
  const { call } = await called('echo')
  await call()
  api.metrics.setGlobalMeterProvider(meterProvider)
  await call()
  await reader.forceFlush()
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((one) => one.metrics)
    .flatMap(({ dataPoints }): readonly { readonly value: unknown }[] => dataPoints)
  assert.deepEqual(
    points.map(({ value }) => (value as { readonly count: number }).count),
    [1],
  )
})

/** One that does not say which fields it uses. */
class Discreet extends W3CTraceContextPropagator {
  override fields(): string[] {
    return []
  }
}

for (const propagator of [new W3CTraceContextPropagator(), new Discreet()])
  test(`a propagator alone passes on what comes in (${propagator.constructor.name})`, async () => {
    const { client, call } = await called('report')
    api.propagation.setGlobalPropagator(propagator)
    await call({ traceparent, progressToken: 'p' })
    assert.deepEqual(client.heard.at(-1)?.params?.['_meta'], { traceparent })
  })
