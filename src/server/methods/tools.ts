import { andThen, isLater, type Awaitable } from '../../model/at-once.ts'
import type { CallToolResult, CreateTaskResult, InputRequiredResult } from '../../model/call.ts'
import type { JsonObject } from '../../model/json.ts'
import { toPlain } from '../../model/plain.ts'
import { isRefusal, Refusal } from '../../model/refusal.ts'
import { issuesText, type Checked } from '../../schema/schema.ts'
import type { Context } from '../context.ts'
import type { Method } from '../core.ts'
import type { ToolEntry } from '../entry.ts'
import { listPage } from '../listing.ts'
import { once, onceKey } from '../once.ts'
import type { Round } from '../round.ts'
import { brandOf, isToolError, messageOf, type Result } from '../result.ts'
import { needFeatures } from '../run-context.ts'
import { openRound, runHandler, type Run } from '../run.ts'
import { areBlocks } from '../shapes.ts'
import { runAsTask, taskMode } from '../task-run.ts'
import { lookUp } from '../visibility.ts'

/** `tools/list`: the tools that the caller sees. */
export const listTools: Method<'tools/list'> = async (params, context, core) =>
  listPage('tools', params.cursor, context.principal, core)

/** Runs a tool: lookup, features, state, arguments, run. What the tool throws is a result that the model can act on. */
export const callTool: Method<'tools/call'> = async (params, context, core, call) => {
  const entry = lookUp(core.snapshot().tools, params.name, context.principal, core.ports.logger)
  if (entry === undefined) throw new Refusal('UnknownTool')
  needFeatures(entry.value.config.needs, context)
  const mode = taskMode(entry, params, context)
  const run = { core, call, context, name: entry.key, target: entry.key }
  const opening = openRound(run)
  const round = opening instanceof Promise ? await opening : opening
  const checking = entry.input.validate(params.arguments ?? {})
  const args = checkedArguments(checking instanceof Promise ? await checking : checking)
  const go = (): Awaitable<CallToolResult | InputRequiredResult | CreateTaskResult> =>
    mode
      ? runAsTask(mode, entry, round, run, async (inner) => runTool(entry, args, round, { ...run, context: inner }))
      : runTool(entry, args, round, run)
  const key = onceKey(entry, run, round.flow)
  if (key === undefined) return go()
  const claimed = (again: boolean): ReturnType<typeof go> => {
    round.recordSteps(again)
    return go()
  }
  return once(key, round.named(key.flow, key.key), entry, run, claimed, () => round.begun)
}

/** Runs a tool for a task that another process could not finish; its arguments passed their schema before. */
export async function runAgain(
  entry: ToolEntry,
  round: Round,
  run: Run,
): Promise<CallToolResult | InputRequiredResult> {
  return runTool(entry, checkedArguments(await entry.input.validate(run.call.params.arguments)), round, run)
}

/** A promise only where something takes one: most of the time of a small call would go into promises. */
function runTool(
  entry: ToolEntry,
  args: unknown,
  round: Round,
  run: Run,
): Awaitable<CallToolResult | InputRequiredResult> {
  try {
    const outcome = runHandler(run, round, (ctx) => invoke(entry, args, ctx))
    const result = andThen(outcome, (known) => ('asks' in known ? known.asks : toResult(entry, known.value)))
    return isLater(result) ? result.catch((thrown: unknown) => failure(thrown, run)) : result
  } catch (thrown) {
    return failure(thrown, run)
  }
}

/** The one place where a handler's argument type, which the schema has just proved, is taken on trust. */
function invoke(entry: ToolEntry, args: unknown, ctx: Context): unknown {
  return entry.value.handler(args as never, ctx)
}

function checkedArguments(checked: Checked<unknown>): unknown {
  if ('value' in checked) return checked.value
  throw new Refusal('InvalidArguments', { message: `Invalid arguments: ${issuesText(checked.issues)}` })
}

/** A promise only where checking the output takes one. */
function toResult(entry: ToolEntry, returned: unknown): CallToolResult | Promise<CallToolResult> {
  if (brandOf(returned) === 'complete') return checkedOutput(entry, checkedContent(entry, returned as Result))
  if (entry.output) return checkedOutput(entry, { structuredContent: returned as JsonObject })
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }] }
  if (returned === undefined) return { content: [] }
  return checkedContent(entry, { content: Array.isArray(returned) ? returned : [returned] })
}

/** @throws Refusal `Unserializable` for content that is none: types are no proof of what a handler returns */
function checkedContent(entry: ToolEntry, result: CallToolResult): CallToolResult {
  const { content } = result
  if (content === undefined || areBlocks(content)) return result
  throw unsendable(
    entry,
    new TypeError('The tool returned what is neither text nor whole content blocks, and has no output schema'),
  )
}

function checkedOutput(entry: ToolEntry, result: CallToolResult): CallToolResult | Promise<CallToolResult> {
  if (entry.output === undefined || result.isError) return plainly(entry, result)
  const checking = entry.output.validate(result.structuredContent)
  return checking instanceof Promise
    ? checking.then((checked) => withChecked(entry, result, checked))
    : withChecked(entry, result, checking)
}

/** @throws Refusal `Unserializable` for structured content that is not JSON; it is not to be left out without a word */
function plainly(entry: ToolEntry, result: CallToolResult): CallToolResult {
  const { structuredContent } = result
  if (structuredContent === undefined) return result
  try {
    const plain = toPlain(structuredContent)
    if (plain !== undefined) return plain === structuredContent ? result : { ...result, structuredContent: plain }
  } catch (cause) {
    throw unsendable(entry, new TypeError('The structured content is not JSON', { cause }))
  }
  throw unsendable(entry, new TypeError('The structured content has no text in JSON'))
}

function withChecked(entry: ToolEntry, result: CallToolResult, checked: Checked<unknown>): CallToolResult {
  if ('value' in checked) return { ...result, structuredContent: checked.value as JsonObject }
  throw unsendable(entry, new TypeError(`The output does not fit its schema: ${issuesText(checked.issues)}`))
}

/** The refusal of a result; its cause, which the log is told, has the tool as a field. */
function unsendable({ key }: ToolEntry, cause: TypeError): Refusal {
  return new Refusal('Unserializable', { cause: Object.assign(cause, { tool: key }) })
}

function failure(thrown: unknown, { core, context, name }: Run): CallToolResult {
  if (isRefusal(thrown)) throw thrown
  if (isToolError(thrown)) return saying(messageOf(thrown))
  if (context.signal.aborted) throw thrown
  core.ports.logger.error('a tool threw', { tool: name, error: thrown })
  return saying(core.options.maskErrors ? 'The tool failed' : messageOf(thrown))
}

function saying(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
