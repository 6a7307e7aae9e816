/**
 * Primitives as methods of classes: mark them with these decorators and hand the object, or the class, to `server.add`.
 * They are ECMAScript's own decorators, which a transpiler has to know.
 */
export { prompt, resource, template, tool } from './server/decorated.ts'
export type { Marks, PromptMarking, ResourceMarking, TemplateMarking, ToolMarking } from './server/decorated.ts'
