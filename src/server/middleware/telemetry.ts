import type * as Otel from '@opentelemetry/api'
import type { Call } from '../../model/call.ts'
import { own } from '../../model/json.ts'
import { isRefusal, Refusal } from '../../model/refusal.ts'
import type { CallContext } from '../../model/served.ts'
import type { Middleware } from '../middleware.ts'
import { createAbout, type About } from './telemetry-attributes.ts'
import { parentOf, TracedContext, type Parent, type Tracing } from './trace-context.ts'

/** Where spans and measurements go. */
export interface TelemetryOptions {
  /** Default: the global one. */
  readonly tracerProvider?: Otel.TracerProvider
  /** Default: the global one. */
  readonly meterProvider?: Otel.MeterProvider
}

/** What of `@opentelemetry/api` is used. */
export type TelemetryApi = Pick<
  typeof Otel,
  | 'context'
  | 'metrics'
  | 'propagation'
  | 'trace'
  | 'createNoopMeter'
  | 'ProxyTracerProvider'
  | 'SpanKind'
  | 'SpanStatusCode'
  | 'INVALID_TRACEID'
>

/** What a peer is told of a refusal: `undefined` where that is a result. */
export type Told = (
  refusal: Refusal,
  call: Call,
  revision: string,
) => { readonly code: number; readonly message: string } | undefined

/** How an operation failed, in the conventions' terms. */
interface Failure {
  readonly type: string
  readonly code?: number
  readonly message?: string
  readonly cause?: unknown
  /** Whether the target is the caller's invention, and so no name to count by. */
  readonly stranger?: boolean
}

/** An operation whose span is open. */
interface Timed {
  readonly span: Otel.Span
  readonly began: number
  readonly about: About
}

const scope = 'dragoman'
/** Seconds (semantic conventions for MCP, metrics). */
const buckets = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
/** A stream that stays open for hours is no operation to take the time of. */
const endless = 'subscriptions/listen'
const strangers: ReadonlySet<string> = new Set(['UnknownTool', 'UnknownPrompt', 'UnassignedPrompt'])

/**
 * A span and a measurement for every operation, by OpenTelemetry's semantic conventions for MCP. The API is handed in,
 * so that nothing is loaded where nobody traces; and while nobody listens, operations pass untouched. Listening is left
 * out; so is what the server never hears of, such as handshakes and malformed requests.
 */
export function telemetryOver(api: TelemetryApi, told: Told, options: TelemetryOptions = {}): Middleware {
  const tracers = createTracers(api, options.tracerProvider)
  const aboutOf = createAbout()
  const durations = createDurations(api, options.meterProvider)

  function end({ span, began, about }: Timed, failure: Failure | undefined): void {
    if (!failure) {
      span.end()
      return durations().histogram.record((performance.now() - began) / 1000, about.all)
    }
    const { type, code, message, cause, stranger } = failure
    const outcome = { 'error.type': type, ...(code !== undefined && { 'rpc.response.status_code': String(code) }) }
    span.setAttributes(outcome)
    span.setStatus({ code: api.SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
    if (cause instanceof Error) span.recordException(cause)
    span.end()
    durations().histogram.record((performance.now() - began) / 1000, {
      ...(stranger ? about.kind : about.all),
      ...outcome,
    })
  }

  function failureOf(thrown: unknown, call: Call, context: CallContext): Failure {
    if (context.signal.aborted) return { type: 'cancelled' }
    const refusal = isRefusal(thrown) ? thrown : new Refusal('InternalError', { cause: thrown })
    const wire = told(refusal, call, context.revision)
    const about = { cause: refusal.cause, stranger: strangers.has(refusal.kind) }
    return wire ? { type: String(wire.code), ...wire, ...about } : { type: 'tool_error', ...about }
  }

  /** The span of an operation, and what is carried on from it: nothing where nobody traces and nothing came with it. */
  function begin(
    call: Call,
    context: CallContext,
    tracer: Otel.Tracer,
    { parent, links, isNew }: Parent,
  ): { readonly timed: Timed; readonly tracing: Tracing | undefined } {
    const about = aboutOf(call, context)
    const began = performance.now()
    const span = tracer.startSpan(about.name, { kind: api.SpanKind.SERVER, attributes: about.all, links }, parent)
    if (span.isRecording()) {
      span.setAttribute('jsonrpc.request.id', String(context.requestId))
      const uri = own(call.params, 'uri')
      if (typeof uri === 'string') span.setAttribute('mcp.resource.uri', uri)
    }
    const isCarried = span.spanContext().traceId !== api.INVALID_TRACEID || isNew
    const tracing = isCarried ? { api, tracer, within: api.trace.setSpan(parent, span) } : undefined
    return { timed: { span, began, about }, tracing }
  }

  return {
    all: async (call, context, next) => {
      if (call.method === endless) return next(call, context)
      const { tracer, isHeard } = tracers()
      const parent = parentOf(api, call, context)
      // What comes in is passed on even where nobody else listens.
      if (parent.isAlone && !isHeard && !durations().isHeard) return next(call, context)
      const { timed, tracing } = begin(call, context, tracer, parent)
      try {
        const result = await (tracing === undefined
          ? next(call, context)
          : api.context.with(tracing.within, () => next(call, new TracedContext(context, tracing))))
        end(timed, own(result, 'isError') === true ? { type: 'tool_error' } : undefined)
        return result
      } catch (thrown) {
        end(timed, failureOf(thrown, call, context))
        throw thrown
      }
    },
  }
}

/** The measurement of how long operations take. */
interface Durations {
  readonly histogram: Otel.Histogram
  /** Whether anybody is told of it. */
  readonly isHeard: boolean
}

/** One measurement for each provider there ever is: a meter of none stays mute, though a provider be set up later. */
function createDurations(api: TelemetryApi, own: Otel.MeterProvider | undefined): () => Durations {
  const create = (meter: Otel.Meter): Otel.Histogram =>
    meter.createHistogram('mcp.server.operation.duration', {
      unit: 's',
      description: 'How long an operation took, from when it was received until its result was there',
      advice: { explicitBucketBoundaries: buckets },
    })
  const mute = create(api.createNoopMeter())
  let provider: Otel.MeterProvider | undefined
  let durations: Durations = { histogram: mute, isHeard: false }
  return () => {
    const now = own ?? api.metrics.getMeterProvider()
    if (now !== provider) {
      provider = now
      const histogram = create(now.getMeter(scope))
      durations = { histogram, isHeard: histogram !== mute }
    }
    return durations
  }
}

/** What makes spans. */
interface Spans {
  readonly tracer: Otel.Tracer
  /** Whether anybody is told of them. */
  readonly isHeard: boolean
}

/** The tracer of whatever provider is set up: that of one which was let go would tell it of all that comes after. */
function createTracers(api: TelemetryApi, own: Otel.TracerProvider | undefined): () => Spans {
  const nobody = new api.ProxyTracerProvider().getDelegate()
  let provider = own ?? api.trace.getTracerProvider()
  let tracer = provider.getTracer(scope)
  return () => {
    const now = own ?? api.trace.getTracerProvider()
    if (now !== provider) {
      provider = now
      tracer = now.getTracer(scope)
    }
    // The global one stands for the one that is set up, if one is.
    const proxy: Partial<Otel.ProxyTracerProvider> = now
    return { tracer, isHeard: own !== undefined || proxy.getDelegate?.() !== nobody }
  }
}
