import type * as Otel from '@opentelemetry/api'
import type { Call } from '../../model/call.ts'
import { own, type JsonObject } from '../../model/json.ts'
import type { AskAnswer, AskRequest } from '../../model/nouns.ts'
import type { Notification } from '../../model/notification.ts'
import { isRefusal } from '../../model/refusal.ts'
import type { CallContext } from '../../model/served.ts'
import { InnerContext } from './inner-context.ts'
import type { TelemetryApi } from './telemetry.ts'

/** What is traced within one operation. */
export interface Tracing {
  readonly api: TelemetryApi
  readonly tracer: Otel.Tracer
  /** The operation's own span, and what came with it. */
  readonly within: Otel.Context
}

const fromMeta: Otel.TextMapGetter<JsonObject> = {
  keys: (meta) => Object.keys(meta),
  get: (meta, key) => {
    const value = own(meta, key)
    return typeof value === 'string' ? value : undefined
  },
}

const fromHeaders: Otel.TextMapGetter<(name: string) => string | undefined> = {
  keys: () => [],
  get: (header, key) => header(key.toLowerCase()),
}

/** What an operation is part of. */
export interface Parent {
  readonly parent: Otel.Context
  readonly links: Otel.Link[]
  /** Whether something came with the operation. */
  readonly isNew: boolean
  /** Whether nothing did, nor is a span active here: whatever the operation says carries no trace on but its own. */
  readonly isAlone: boolean
}

/**
 * What an operation is part of: the span that the request's `_meta` names, linked to the one that is active here; else
 * the active one, which instrumentation of the HTTP server made; else the one that the HTTP headers name.
 */
export function parentOf({ context, propagation, trace }: TelemetryApi, call: Call, { header }: CallContext): Parent {
  const active = context.active()
  const here = trace.getSpanContext(active)
  const said = propagation.extract(active, call.meta, fromMeta)
  if (said !== active && trace.getSpanContext(said) !== here)
    return { parent: said, links: here ? [{ context: here }] : [], isNew: true, isAlone: false }
  const parent = here || !header ? said : propagation.extract(said, header, fromHeaders)
  const isNew = parent !== active
  return { parent, links: [], isNew, isAlone: !isNew && here === undefined }
}

/** The context of an operation that is traced: what it tells and asks the client carries the trace on, in `_meta`. */
export class TracedContext extends InnerContext {
  readonly #tracing: Tracing

  constructor(outer: CallContext, tracing: Tracing) {
    super(outer)
    this.#tracing = tracing
  }

  override get ask(): CallContext['ask'] {
    const { ask } = this.outer
    return ask && ((request, ...rest) => this.#asked(request, (traced) => ask(traced, ...rest)))
  }

  override notify(notification: Notification): void {
    this.outer.notify(carrying(notification, this.#tracing.api, this.#now()))
  }

  /** The innermost span of the handler, where the runtime tells; else that of the operation. */
  #now(): Otel.Context {
    const { api, within } = this.#tracing
    const active = api.context.active()
    return api.trace.getSpanContext(active) ? active : within
  }

  async #asked(request: AskRequest, ask: (request: AskRequest) => Promise<AskAnswer>): Promise<AskAnswer> {
    const { api, tracer } = this.#tracing
    const attributes = { 'mcp.method.name': request.method, 'mcp.protocol.version': this.revision }
    const now = this.#now()
    const span = tracer.startSpan(request.method, { kind: api.SpanKind.CLIENT, attributes }, now)
    try {
      return await ask(carrying(request, api, api.trace.setSpan(now, span)))
    } catch (thrown) {
      span.setAttribute(
        'error.type',
        isRefusal(thrown) ? thrown.kind : thrown instanceof Error ? thrown.name : '_OTHER',
      )
      span.setStatus({ code: api.SpanStatusCode.ERROR })
      throw thrown
    } finally {
      span.end()
    }
  }
}

/** `message` with the trace in its `_meta`; itself where no propagator has anything to say. */
function carrying<M extends AskRequest | Notification>(
  message: M,
  { propagation }: TelemetryApi,
  context: Otel.Context,
): M {
  const carrier: Record<string, string> = {}
  propagation.inject(context, carrier)
  if (Object.keys(carrier).length === 0) return message
  const params = message.params as JsonObject | undefined
  const meta = params && own(params, '_meta')
  return { ...message, params: { ...params, _meta: { ...(meta as JsonObject | undefined), ...carrier } } }
}
