import type { JsonObject } from '../model/json.ts'
import type { HeaderPlan } from '../model/served.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from '../model/nouns.ts'
import type { CompiledSchema } from '../schema/schema.ts'
import { compileInput, compileOutput } from '../schema/schema.ts'
import { headerPlan } from '../schema/header-plan.ts'
import type { PromptValue } from './prompt.ts'
import type { ResourceValue, TemplateValue } from './resource.ts'
import type { Presentation, ToolValue, Visible } from './tool.ts'
import { parseTemplate, type UriTemplate } from './uri-template.ts'

interface Shelved {
  /** What the primitive is found by: a name, a URI, or a template's text. */
  readonly key: string
  /** The scopes to see it; `undefined` where everybody does. */
  readonly scopes: readonly string[] | undefined
}

/** A tool made ready: what is listed, and the compiled checks of what goes in and out. */
export interface ToolEntry extends Shelved {
  readonly value: ToolValue
  readonly listing: Tool
  readonly input: CompiledSchema
  readonly output: CompiledSchema | undefined
  readonly headers: HeaderPlan | undefined
}

/** A resource made ready. */
export interface ResourceEntry extends Shelved {
  readonly value: ResourceValue
  readonly listing: Resource
}

/** A template made ready, its URI template parsed. */
export interface TemplateEntry extends Shelved {
  readonly value: TemplateValue
  readonly listing: ResourceTemplate
  readonly template: UriTemplate
}

/** A prompt made ready. */
export interface PromptEntry extends Shelved {
  readonly value: PromptValue
  readonly listing: Prompt
  /** The arguments that a call cannot do without. */
  readonly required: readonly string[]
}

const toolName = /^[A-Za-z0-9_.-]{1,128}$/

/** Compiles a tool. @throws an error that names the tool and says what is wrong with it. */
export function toolEntry(value: ToolValue): ToolEntry {
  return named('tool', value.name, () => {
    const { config } = value
    if (!toolName.test(value.name)) throw new Error('a name is 1 to 128 of A-Z a-z 0-9 _ . -')
    const input = compileInput(config.input, config.schema?.input)
    const declared = config.output ?? config.schema?.output
    const output = declared === undefined ? undefined : compileOutput(config.output, config.schema?.output)
    const { annotations } = config
    const listing = {
      name: value.name,
      ...presented(config),
      inputSchema: input.document,
      ...(output && { outputSchema: output.document }),
      ...(annotations && { annotations }),
      ...executionOf(config),
    }
    return {
      key: value.name,
      scopes: scopesOf(config),
      value,
      listing: freeze(listing),
      input,
      output,
      headers: plannedHeaders(input.document),
    }
  })
}

/** Whether the client may, or must, have the call as a task (2025-11-25, tasks, "Tool-Level Negotiation"). */
function executionOf({ task = 'never' }: ToolValue['config']): Pick<Tool, 'execution'> {
  if (task === 'never') return {}
  if (task === 'always') return { execution: { taskSupport: 'required' } }
  if (!Number.isFinite(task.after) || task.after < 0) throw new Error('it becomes a task after a time that is none')
  return { execution: { taskSupport: 'optional' } }
}

function plannedHeaders(document: JsonObject): HeaderPlan | undefined {
  const planned = headerPlan(document)
  if ('invalid' in planned) throw new Error(planned.invalid)
  return planned.plan
}

/** Makes a resource ready. @throws if its URI is none */
export function resourceEntry(value: ResourceValue): ResourceEntry {
  return named('resource', value.uri, () => {
    if (!URL.canParse(value.uri)) throw new Error('its URI is none')
    return {
      key: value.uri,
      scopes: scopesOf(value.config),
      value,
      listing: freeze({ uri: value.uri, ...described(value.config) }),
    }
  })
}

/** @throws an error that names the template and says what is wrong with it. */
export function templateEntry(value: TemplateValue): TemplateEntry {
  return named('template', value.uriTemplate, () => {
    const parsed = parseTemplate(value.uriTemplate)
    const stranger = Object.keys(value.config.complete ?? {}).find((name) => !parsed.variables.includes(name))
    if (stranger !== undefined) throw new Error(`it completes ${stranger}, which is none of its variables`)
    const listing = freeze({ uriTemplate: value.uriTemplate, ...described(value.config) })
    return { key: value.uriTemplate, scopes: scopesOf(value.config), value, listing, template: parsed }
  })
}

/** Makes a prompt ready. @throws if its name is empty */
export function promptEntry(value: PromptValue): PromptEntry {
  return named('prompt', value.name, () => {
    if (value.name === '') throw new Error('a name cannot be empty')
    const given = Object.entries(value.config.arguments ?? {})
    const listed = given.map(([name, { complete: _, ...shown }]) => ({ name, ...shown }))
    const listing = freeze({
      name: value.name,
      ...presented(value.config),
      ...(listed.length > 0 && { arguments: listed }),
    })
    const required = given.filter(([, argument]) => argument.required).map(([name]) => name)
    return { key: value.name, scopes: scopesOf(value.config), value, listing, required }
  })
}

function named<T>(kind: string, name: string, compile: () => T): T {
  try {
    return compile()
  } catch (cause) {
    throw new Error(`${kind} ${JSON.stringify(name)}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

function presented({ title, description, icons, _meta }: Presentation): Presentation {
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
  }
}

function described({ name, mimeType, size, annotations, ...rest }: ResourceValue['config']): Omit<Resource, 'uri'> {
  return {
    name,
    ...presented(rest),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
    ...(annotations && { annotations }),
  }
}

/** Whom a primitive is for: `undefined` where it is for everybody. */
export function scopesOf({ scopes }: Visible): readonly string[] | undefined {
  return scopes && scopes.length > 0 ? scopes : undefined
}

function freeze<T>(listing: T): T {
  return Object.freeze(listing)
}
