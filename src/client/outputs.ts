import { CallFailed } from '../model/failure.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { Logger } from '../model/ports.ts'
import { issuesText } from '../schema/issues.ts'
import { withoutSlowPatterns } from '../schema/patterns.ts'
import { compileOutput, type CompiledSchema } from '../schema/schema.ts'

/** Checks structured results by the schemas that tools were listed with. */
export interface OutputChecks {
  /** @throws CallFailed `InvalidResult`, for a tool that ran */
  check(tool: string, schema: JsonObject, structured: Json | undefined): void
}

const maxKept = 500

/**
 * Makes the checks. A schema is compiled when it is first needed, and once for all tools that have the same; at most 500
 * are kept. One that cannot be used (it is none, or leads out of itself, which is never followed) checks nothing.
 */
export function createOutputChecks(logger: Logger): OutputChecks {
  const compiled = new Map<string, CompiledSchema | undefined>()
  const seen = new WeakMap<JsonObject, string>()

  function textOf(schema: JsonObject): string {
    const known = seen.get(schema)
    if (known !== undefined) return known
    const text = JSON.stringify(schema)
    seen.set(schema, text)
    return text
  }

  function compile(tool: string, schema: JsonObject): CompiledSchema | undefined {
    const text = textOf(schema)
    if (compiled.has(text)) return compiled.get(text)
    let fresh: CompiledSchema | undefined
    try {
      const { schema: quick, left } = withoutSlowPatterns(schema)
      if (left.length > 0)
        logger.warn('patterns of an output schema are not checked; they could take long', { tool, left })
      fresh = compileOutput(quick)
    } catch (error) {
      logger.warn('an output schema cannot be used; results are not checked by it', { tool, error })
    }
    const [oldest] = compiled.keys()
    if (compiled.size >= maxKept && oldest !== undefined) compiled.delete(oldest)
    compiled.set(text, fresh)
    return fresh
  }

  return {
    check(tool, schema, structured) {
      const checked = compile(tool, schema)?.validate(structured)
      if (!checked || checked instanceof Promise || 'value' in checked) return
      const what = structured === undefined ? 'there is none' : issuesText(checked.issues)
      throw new CallFailed('InvalidResult', {
        ran: 'yes',
        message: `The structured result of ${tool} does not fit its output schema: ${what}`,
      })
    },
  }
}
