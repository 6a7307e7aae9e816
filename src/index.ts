/**
 * Dragoman serves every published revision of the Model Context Protocol at once. This entry puts the rooms together:
 * server values, the doors they are served through, and the defaults behind both.
 */
export { createServer } from './defaults.ts'
export type { SpeakOptions, StateOptions } from './defaults.ts'
export { fetchHandler, nodeHandler, serveHttp } from './http.ts'
export type { FetchHandler, HttpDoorOptions, HttpServer, NodeHandler, ServeHttpOptions } from './http.ts'
export { connectInMemory } from './memory.ts'
export type { ConnectOptions, MemoryLink } from './memory.ts'
export { serveStdio } from './stdio.ts'
export type { StdioDoorOptions } from './stdio.ts'

export { prompt } from './server/prompt.ts'
export type {
  PromptArguments,
  PromptConfig,
  PromptGetter,
  PromptInput,
  PromptValue,
  Prompted,
} from './server/prompt.ts'
export { resource, template } from './server/resource.ts'
export type {
  Completer,
  Readable,
  Reader,
  ResourceConfig,
  ResourceValue,
  TemplateConfig,
  TemplateReader,
  TemplateValue,
  Variables,
} from './server/resource.ts'
export { inputRequired, isToolError, result, ToolError, UrlElicitationRequired } from './server/result.ts'
export type { InputRequired, Result } from './server/result.ts'
export { tool } from './server/tool.ts'
export type { ToolArguments, ToolConfig, ToolHandler, ToolReturn, ToolValue } from './server/tool.ts'
export type { Context, Elicited, StepInput, Visited } from './server/context.ts'
export type { TaskLimits } from './durable/tasks.ts'
export type { ListKind, Primitive, Server, ServerHandle, ServerOptions, Told } from './server/server.ts'
export { method } from './server/custom-method.ts'
export type { MethodConfig, MethodHandler, MethodValue } from './server/custom-method.ts'
export { answerSampling } from './server/inbound-sampling.ts'
export type { Sampled, SamplingHandler } from './server/inbound-sampling.ts'
export type { Extension } from './server/extension.ts'
export type { Around, CallOf, ListOperation, Middleware } from './server/middleware.ts'
export { form } from './schema/form.ts'
export type { Form } from './schema/form.ts'

export { createCodecs } from './codec/registry.ts'
export type { Codecs } from './codec/registry.ts'
export type { Loss } from './codec/projection.ts'
export { isRefusal, Refusal } from './model/refusal.ts'
export type { Ran, RefusalKind } from './model/refusal.ts'
export { memoryStore } from './store/memory.ts'
export { isStoreUnavailable, StoreUnavailable } from './model/store-unavailable.ts'
export type { Attempted } from './model/store-unavailable.ts'
export type {
  AppendOptions,
  Eviction,
  Listed,
  ListOptions,
  LogEntry,
  LogPage,
  PutOptions,
  Store,
  Versioned,
} from './model/store.ts'
export type { Clock, LogFields, Logger, Random } from './model/ports.ts'
export type { Principal } from './model/notification.ts'
export type { Json, JsonObject } from './model/json.ts'
export type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
  TextResourceContents,
} from './model/content.ts'
export type {
  CacheHints,
  Implementation,
  LogLevel,
  PromptMessage,
  Root,
  SampleParams,
  SampleResult,
  ToolAnnotations,
} from './model/nouns.ts'
export type { Feature } from './model/feature.ts'
