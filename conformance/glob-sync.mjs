// Defends: the official suite starts on Node 20, whose `fs` has no `globSync` yet. The suite needs it for a command that is not run here.
import fs from 'node:fs'
import { register } from 'node:module'

if (fs.globSync === undefined) {
  const names = Object.keys(fs).filter((name) => name !== 'default' && /^[\w$]+$/.test(name))
  const source = [
    "import fs from 'node:fs'",
    'export default fs',
    `export const { ${names.join(', ')} } = fs`,
    "export const globSync = () => { throw new Error('fs.globSync needs Node 22') }",
  ].join('\n')
  const standIn = `data:text/javascript,${encodeURIComponent(source)}`
  const hook = `export const resolve = (specifier, context, next) =>
    /^(node:)?fs$/.test(specifier) && context.parentURL?.includes('/@modelcontextprotocol/conformance/dist/')
      ? { url: ${JSON.stringify(standIn)}, shortCircuit: true }
      : next(specifier, context)`
  register(`data:text/javascript,${encodeURIComponent(hook)}`)
}
