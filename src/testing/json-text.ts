import { isObject, type Json } from '../model/json.ts'

/** Columns that a line of a transcript may take before its JSON is broken into several. */
const width = 118

/** JSON for people: on one line where that fits, else one member or element a line, each nested two spaces deeper. */
export function readable(value: Json, indent = '', prefix = ''): string {
  const line = oneLine(value)
  if (indent.length + prefix.length + line.length <= width) return line
  const deeper = `${indent}  `
  if (Array.isArray(value) && value.length > 0) {
    return `[\n${value.map((item: Json) => deeper + readable(item, deeper)).join(',\n')}\n${indent}]`
  }
  if (!isObject(value) || Object.keys(value).length === 0) return line
  const members = Object.entries(value).map(([key, member]) => {
    const head = `${JSON.stringify(key)}: `
    return deeper + head + readable(member ?? null, deeper, head)
  })
  return `{\n${members.join(',\n')}\n${indent}}`
}

function oneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${oneLine(member ?? null)}`)
  return `{${members.join(', ')}}`
}
