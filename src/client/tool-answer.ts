import type { CallToolResult } from '../model/call.ts'
import type { ContentBlock } from '../model/content.ts'
import { CallFailed } from '../model/failure.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { isBlock, mustList } from './shape.ts'

/** What a tool answered: the members of the result as they came, and two ways of reading them. */
export class ToolAnswer<T = Json> {
  readonly content: readonly ContentBlock[]
  /** The structured content as it came, and whether or not there is any; {@link ToolAnswer.structured} insists on it. */
  readonly structuredContent?: Json
  /** The tool said no. A model can act on its words, which are the content. */
  readonly isError: boolean
  readonly _meta?: JsonObject

  /** @throws CallFailed `InvalidResult` for content that is none */
  constructor(result: CallToolResult) {
    const { content = [], structuredContent, isError, _meta } = result
    mustList({ content: content as unknown as Json }, 'content', isBlock)
    this.content = content
    if (structuredContent !== undefined) this.structuredContent = structuredContent
    this.isError = isError === true
    if (isObject(_meta)) this._meta = _meta
  }

  /** The text of the content, one block a line. */
  get text(): string {
    return this.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  }

  /**
   * The structured content, checked by the tool's output schema where that is known. @throws CallFailed `InvalidResult`
   * where the tool said no, in its words, and where there is none
   */
  get structured(): T {
    if (this.isError) throw new CallFailed('InvalidResult', { ran: 'yes', message: this.text || 'The tool said no' })
    if (this.structuredContent === undefined) {
      throw new CallFailed('InvalidResult', { ran: 'yes', message: 'The tool answered nothing structured' })
    }
    // By the type of the server's own tool, whose output schema the content fits.
    return this.structuredContent as T
  }
}
