import type { AnySchema } from '../schema/schema.ts'
import { prompt as promptValue, type PromptArguments, type PromptConfig, type PromptGetter } from './prompt.ts'
import { resource as resourceValue, template as templateValue } from './resource.ts'
import type { Reader, ResourceConfig, TemplateConfig, TemplateReader } from './resource.ts'
import type { Primitive } from './server.ts'
import type { ToolConfig, ToolHandler } from './tool.ts'

/** A method as it is called: on its object. */
type Method = (...args: never[]) => unknown

/** Makes the primitive of a marked method. */
type Mark<M extends Method = Method> = (name: string, method: M) => Primitive

/** Shared by all copies of this package. */
const mark = Symbol.for('dragoman.mark')

/** What may be said of a tool that is a method; its name is the method's, unless said. */
export type ToolMarking<I, O> = ToolConfig<I, O> & { readonly name?: string }

/** What may be said of a resource that is a method; its name is the method's, unless said. */
export type ResourceMarking = Omit<ResourceConfig, 'name'> & { readonly name?: string }

/** What may be said of a template that is a method; its name is the method's, unless said. */
export type TemplateMarking = Omit<TemplateConfig, 'name'> & { readonly name?: string }

/** What may be said of a prompt that is a method; its name is the method's, unless said. */
export type PromptMarking<A extends PromptArguments> = PromptConfig<A> & { readonly name?: string }

/** A decorator (ECMAScript's own, not TypeScript's experimental ones) for methods of one kind. */
export type Marks<M extends (...args: never[]) => unknown> = <This>(
  method: (this: This, ...args: Parameters<M>) => ReturnType<M>,
  context: ClassMethodDecoratorContext<This>,
) => void

/** Marks a method as a tool: `@tool({ input, … }) name(args, ctx) { … }`. */
export function tool<
  const I extends AnySchema | undefined = undefined,
  const O extends AnySchema | undefined = undefined,
>(marking: ToolMarking<I, O>): Marks<ToolHandler<I, O>> {
  const { name: given, ...config } = marking
  return marker<ToolHandler<I, O>>((name, handler) => ({ kind: 'tool', name: given ?? name, config, handler }))
}

/** Marks a method as the reader of a resource: `@resource('doc://one', { … }) one(uri, ctx) { … }`. */
export function resource(uri: string, marking: ResourceMarking = {}): Marks<Reader> {
  return marker<Reader>((name, reader) => resourceValue(uri, { name, ...marking }, reader))
}

/** Marks a method as the reader of a family of resources: `@template('doc://{id}') doc({ id }, ctx, uri) { … }`. */
export function template(uriTemplate: string, marking: TemplateMarking = {}): Marks<TemplateReader> {
  return marker<TemplateReader>((name, reader) => templateValue(uriTemplate, { name, ...marking }, reader))
}

/** Marks a method as the getter of a prompt: `@prompt({ arguments: { … } }) name(args, ctx) { … }`. */
export function prompt<const A extends PromptArguments>(marking: PromptMarking<A>): Marks<PromptGetter<A>> {
  const { name: given, ...config } = marking
  return marker<PromptGetter<A>>((name, getter) => promptValue(given ?? name, config, getter))
}

function marker<M extends Method>(made: Mark<M>): Marks<M> {
  return (method, { name, private: hidden }) => {
    if (hidden || typeof name === 'symbol') {
      throw new TypeError(`${String(name)} cannot be marked: nothing outside sees it`)
    }
    Object.defineProperty(method, mark, { value: made })
  }
}

/**
 * The primitives that the marked methods of `target` are, inherited ones included; of two methods of one name the
 * nearest counts, marked or not. Of a class, the static methods, and those of an instance that is made here.
 * @throws if nothing is marked, or if an instance cannot be made without arguments
 */
export function primitivesOf(target: object): readonly Primitive[] {
  const found = typeof target === 'function' ? ofClass(target) : markedIn(target)
  if (found.length === 0) throw new TypeError(`${labelOf(target)} is no primitive and has no marked methods`)
  return found
}

function ofClass(target: object): readonly Primitive[] {
  const { prototype, length } = target as { readonly prototype?: unknown; readonly length?: unknown }
  const own = markedIn(target)
  if (typeof prototype !== 'object' || prototype === null || markedIn(prototype).length === 0) return own
  if (length !== 0)
    throw new TypeError(`The constructor of ${labelOf(target)} takes arguments: add an instance instead`)
  return [...own, ...markedIn(Reflect.construct(target as new () => object, []))]
}

function markedIn(target: object): readonly Primitive[] {
  const found = new Map<string, Primitive | undefined>()
  for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (!found.has(name)) found.set(name, primitiveOf(name, value, target))
    }
  }
  return [...found.values()].filter((one) => one !== undefined)
}

function primitiveOf(name: string, method: unknown, target: object): Primitive | undefined {
  if (typeof method !== 'function' || !Object.hasOwn(method, mark)) return undefined
  // What a decorator left on the method was made for the method's own type.
  const made = (method as unknown as Record<symbol, Mark>)[mark]
  return made?.(name, (...args) => Reflect.apply(method, target, args))
}

function labelOf(target: object): string {
  const { name } = typeof target === 'function' ? target : (target.constructor ?? { name: '' })
  return name === '' ? 'What was added' : name
}
