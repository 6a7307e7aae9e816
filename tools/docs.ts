// Defends: every export of src/ says what it means.

const declaration = /^export (?:declare |abstract |async )*(?:function\*?|const|class|interface|type) ([\w$]+)/

/** The exported names of `text` that have no doc comment right above them. */
export function undocumented(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const name = declaration.exec(line)?.[1]
    const above = lines[index - 1]?.trimEnd() ?? ''
    const overload =
      name !== undefined && lines.slice(0, index).some((earlier) => earlier.startsWith(`export function ${name}`))
    return name === undefined || overload || above.endsWith('*/') ? [] : [name]
  })
}
