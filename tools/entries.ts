// Defends: what package.json offers is what is built and what is reported on.
import { readFileSync } from 'node:fs'

/** One subpath of the package: its name, and where its built code and types are. */
export interface Entry {
  readonly subpath: string
  readonly types: string
  readonly code: string
}

/** The subpaths of package.json that are code, in the order given there. */
export function entries(): readonly Entry[] {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, string | { types: string; default: string }>
  }
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [{ subpath, types: target.types, code: target.default }],
  )
}
