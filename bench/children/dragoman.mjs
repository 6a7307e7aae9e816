// The server value of the benchmarks.
import { createServer, tool } from '../../dist/index.js'
import { definitions, serverInfo } from './tools.mjs'

/** @param {number} count @param {object} [more] options of the server besides */
export function createDragoman(count, more = {}) {
  const tools = definitions(count).map(({ name, description, annotations, input, output, run }) =>
    tool(name, { description, input, ...(annotations && { annotations }), ...(output && { output }) }, run),
  )
  // One page, so that a list is the whole list, as that of the others is.
  return createServer({ ...serverInfo, tools, pageSize: 1_000, ...more })
}
