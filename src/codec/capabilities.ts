import { isObject, own } from '../model/json.ts'
import type { Transform } from './define.ts'

/** Leaves out a declared extension that a revision forbids. */
export const withheld =
  (extension: string): Transform =>
  (capabilities) => {
    const extensions = own(capabilities, 'extensions')
    if (!isObject(extensions) || own(extensions, extension) === undefined) return capabilities
    const others = Object.entries(extensions).filter(([id]) => id !== extension)
    const { extensions: _, ...rest } = capabilities
    return others.length > 0 ? { ...rest, extensions: Object.fromEntries(others) } : rest
  }
