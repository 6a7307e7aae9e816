// Defends: the rooms of src/ import one another in one direction only, and only the codec room knows dates.
// The table below is the architecture (docs/design.md); `import type` counts as an import.
import { dirname, join } from 'node:path/posix'

/** Which rooms each room may import. Files directly under src/ are the room `entry`. */
export const table: Readonly<Record<string, readonly string[]>> = {
  model: [],
  wire: ['model'],
  schema: ['model'],
  seal: ['model'],
  store: ['model'],
  codec: ['model', 'wire'],
  durable: ['model', 'seal'],
  peer: ['model', 'wire', 'codec', 'durable'],
  server: ['model', 'schema', 'durable'],
  extension: ['model', 'server', 'durable'],
  'auth/resource': ['model'],
  'auth/flow': ['model'],
  'transport/serve': ['model', 'wire', 'peer', 'durable', 'auth/resource'],
  'transport/dial': ['model', 'wire', 'peer', 'durable'],
  client: ['model', 'schema', 'peer', 'transport/dial', 'auth/flow'],
  entry: ['*'],
  bridge: ['*'],
  cli: ['*'],
  testing: ['*'],
}

/** Rooms that nothing but the composition root and one another may import. */
const upper: readonly string[] = ['entry', 'bridge', 'cli', 'testing']

/** One fault: the file, and what is wrong with it. */
export interface Fault {
  readonly file: string
  readonly message: string
}

/** The room of a path below src/, or undefined where it lies in none. */
export function roomOf(path: string): string | undefined {
  if (!path.includes('/')) return 'entry'
  return Object.keys(table).find((room) => path.startsWith(`${room}/`))
}

/** Checks `sources`, which maps each path below src/ to its text. */
export function checkRooms(sources: ReadonlyMap<string, string>): readonly Fault[] {
  const faults: Fault[] = []
  const runtime = new Map<string, readonly string[]>()
  for (const [file, text] of sources) {
    const imports = importsOf(file, text)
    runtime.set(
      file,
      imports.filter((found) => !found.typeOnly).map((found) => found.target),
    )
    for (const { target } of imports) {
      const message = forbidden(file, target)
      if (message !== undefined) faults.push({ file, message })
    }
    for (const message of dates(file, text)) faults.push({ file, message })
  }
  for (const cycle of cycles(runtime))
    faults.push({ file: cycle[0] ?? '', message: `import cycle: ${cycle.join(' → ')}` })
  return faults
}

interface Import {
  readonly target: string
  readonly typeOnly: boolean
}

const statement =
  /^\s*(?:import|export)\s+(type\s+)?(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s+'(\.[^']+)'|^\s*import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

function importsOf(file: string, text: string): readonly Import[] {
  return [...text.matchAll(statement)].map(([, type, from, bare, dynamic]) => ({
    target: join(dirname(file), from ?? bare ?? dynamic ?? ''),
    typeOnly: type !== undefined,
  }))
}

function forbidden(file: string, target: string): string | undefined {
  const from = roomOf(file)
  const to = roomOf(target)
  if (target.startsWith('../')) return `imports ${target}, which is outside src/`
  if (from === undefined) return 'lies in no room of the table'
  if (to === undefined) return `imports ${target}, which lies in no room of the table`
  if (from === to) return undefined
  const allowed = table[from] ?? []
  if (allowed.includes('*')) return undefined
  if (upper.includes(to) || !allowed.includes(to)) return `${from} may not import ${to} (${target})`
  return undefined
}

function dates(file: string, text: string): readonly string[] {
  if (roomOf(file) === 'codec') return []
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .split('\n')
    .flatMap((line, index) => {
      const date = /20\d\d-\d\d-\d\d/.exec(line.replace(/(^|\s)\/\/.*/, ''))
      return date === null ? [] : [`line ${index + 1} names the revision ${date[0]}; only src/codec may`]
    })
}

/** One way round each import cycle. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) return void found.push([...path.slice(start), file])
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}
