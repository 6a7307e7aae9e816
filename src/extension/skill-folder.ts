import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { readFrontmatter, type Frontmatter } from './frontmatter.ts'
import { mediaTypeOf } from './media-types.ts'

/** A file of a skill, as it was when the folder was read. */
export interface SkillFile {
  readonly uri: string
  /** Its own name, without the folders before it. */
  readonly name: string
  readonly mimeType: string
  readonly bytes: Uint8Array
  readonly isText: boolean
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string
  /** What its frontmatter says, if it is a SKILL.md. */
  readonly frontmatter: Frontmatter | undefined
}

/** A directory, with the URIs of what is in it; those of directories among them. */
export interface SkillDirectory {
  readonly uri: string
  readonly name: string
  readonly files: readonly string[]
  readonly directories: readonly string[]
}

/** A skill: its SKILL.md and everything below the directory that this is in. */
export interface Skill {
  readonly uri: string
  readonly frontmatter: Frontmatter
  readonly files: readonly SkillFile[]
}

/** What a folder of skills holds. All of it is sorted by URI. */
export interface SkillFolder {
  readonly skills: readonly Skill[]
  readonly files: ReadonlyMap<string, SkillFile>
  readonly directories: ReadonlyMap<string, SkillDirectory>
}

const manifest = 'SKILL.md'
const scheme = 'skill://'
/** Skills, "Limits": what every host has to accept. */
const limits = { files: 512, bytes: 16 * 1024 * 1024 }
const maxDepth = 32

/**
 * Reads every skill below `folder`: each directory that has a SKILL.md, whose name is the directory's. What belongs to no
 * skill is left alone, and so is everything whose name begins with a dot.
 * @throws an error that names the file and says what is wrong: with a SKILL.md, with a skill over the limits of the
 * extension, with a link that leads out of the folder or to a directory
 */
export function readSkillFolder(folder: string): SkillFolder {
  const root = realpathSync(folder)
  const files = new Map<string, SkillFile>()
  const directories = new Map<string, SkillDirectory>()
  walk({ root, path: [], inSkill: false, files, directories })
  const sorted = new Map([...files].toSorted(byKey))
  const skills = [...sorted.values()].flatMap((file) =>
    file.frontmatter ? [skillOf(file, file.frontmatter, sorted)] : [],
  )
  return { skills, files: sorted, directories: new Map([...directories].toSorted(byKey)) }
}

/** Compares by code units, so that the order is the same everywhere. */
function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

interface Walk {
  readonly root: string
  /** The names of the directories on the way down. */
  readonly path: readonly string[]
  readonly inSkill: boolean
  readonly files: Map<string, SkillFile>
  readonly directories: Map<string, SkillDirectory>
}

/** Takes in what is below one directory. @returns whether there was anything of a skill */
function walk(at: Walk): boolean {
  const { root, path, files, directories } = at
  if (path.length > maxDepth) throw new Error(`${path.join('/')}: folders are nested too deep`)
  const here = join(root, ...path)
  const entries = readdirSync(here, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'))
  const isSkill = path.length > 0 && entries.some(({ name }) => name === manifest)
  if (path.length === 0 && entries.some(({ name }) => name === manifest)) {
    throw new Error(`${manifest}: a skill has to be in a directory of its own name below ${root}`)
  }
  const inSkill = at.inSkill || isSkill
  const own = inSkill ? entries.filter((entry) => isFile(entry, here, root)) : []
  for (const { name } of own) {
    const file = readFile([...path, name], here)
    files.set(file.uri, file)
  }
  const below = entries.filter((entry) => entry.isDirectory())
  const kept = below.filter(({ name }) => walk({ ...at, path: [...path, name], inSkill }))
  if (path.length > 0 && (inSkill || kept.length > 0)) {
    const uri = uriOf(path)
    const children = (names: readonly Dirent[]): readonly string[] =>
      names.map(({ name }) => uriOf([...path, name])).toSorted()
    directories.set(uri, { uri, name: path.at(-1) ?? '', files: children(own), directories: children(kept) })
  }
  return inSkill || kept.length > 0
}

/** @throws for what cannot be served as what it seems to be: a link to somewhere else, a socket */
function isFile(entry: Dirent, here: string, root: string): boolean {
  if (entry.isDirectory()) return false
  if (entry.isFile()) return true
  const path = join(here, entry.name)
  if (!entry.isSymbolicLink()) throw new Error(`${path}: neither a file nor a directory`)
  const real = realpathSync(path)
  if (!real.startsWith(root + sep)) throw new Error(`${path}: a link that leads out of the folder`)
  if (!statSync(real).isFile()) throw new Error(`${path}: a link to a directory is not followed`)
  return true
}

function readFile(path: readonly string[], here: string): SkillFile {
  const name = path.at(-1) ?? ''
  const bytes = readFileSync(join(here, name))
  const isText = isUtf8(bytes)
  return {
    uri: uriOf(path),
    name,
    mimeType: mediaTypeOf(name, isText),
    bytes,
    isText,
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    frontmatter: name === manifest ? frontmatterOf(bytes, path, join(here, name)) : undefined,
  }
}

function frontmatterOf(bytes: Uint8Array, path: readonly string[], file: string): Frontmatter {
  try {
    if (!isUtf8(bytes)) throw new Error('it is no UTF-8')
    const frontmatter = readFrontmatter(Buffer.from(bytes).toString('utf8'))
    const directory = path.at(-2) ?? basename(file)
    if (frontmatter.name !== directory) {
      throw new Error(`its name, ${frontmatter.name}, is not that of its directory, ${directory}`)
    }
    return frontmatter
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** A skill with everything below its directory: nested skills too (Skills, "Nested Skills"). */
function skillOf(file: SkillFile, frontmatter: Frontmatter, files: ReadonlyMap<string, SkillFile>): Skill {
  const directory = file.uri.slice(0, -manifest.length)
  const own = [...files.values()].filter(({ uri }) => uri.startsWith(directory))
  const bytes = own.reduce((sum, each) => sum + each.bytes.length, 0)
  if (own.length > limits.files) throw new Error(`${file.uri}: a skill has at most ${limits.files} files`)
  if (bytes > limits.bytes) throw new Error(`${file.uri}: the files of a skill have at most ${limits.bytes} bytes`)
  return { uri: file.uri, frontmatter, files: own }
}

function uriOf(path: readonly string[]): string {
  return scheme + path.map(encodeURIComponent).join('/')
}
