// Defends: every tool means the same by "our files".
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The files under `folder` whose name ends with `ending`, sorted; none where the folder is absent. */
export function filesUnder(folder: string, ending: string): readonly string[] {
  return list(folder)
    .filter((file) => file.endsWith(ending))
    .sort()
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? list(path) : [path]
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
