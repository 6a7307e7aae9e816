/** Schemas as a server takes them: any Standard Schema that tells its JSON Schema, or plain JSON Schema 2020-12. */
export { form } from './schema/form.ts'
export type { Form } from './schema/form.ts'
export { useJsonSchemaEngine } from './schema/json-schema.ts'
export type { JsonSchemaEngine } from './schema/json-schema.ts'
export { compileInput, compileOutput, issuesText } from './schema/schema.ts'
export type {
  AnySchema,
  Checked,
  CompiledSchema,
  InferArguments,
  InferInput,
  InferOutput,
  InferStructured,
  Issue,
  StandardSchema,
} from './schema/schema.ts'
