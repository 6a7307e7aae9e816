import { own, type JsonObject } from '../model/json.ts'
import type { CacheHints } from '../model/nouns.ts'
import type { Principal } from '../model/notification.ts'
import { Refusal } from '../model/refusal.ts'
import { method } from '../server/custom-method.ts'
import type { Extension } from '../server/extension.ts'
import { resource, type ResourceValue } from '../server/resource.ts'
import type { ServerHandle } from '../server/server.ts'
import { isVisible } from '../server/visibility.ts'
import { readSkillFolder, type Skill, type SkillDirectory, type SkillFile, type SkillFolder } from './skill-folder.ts'

/** The extension's identifier (Skills, "Extension Identifier"). */
export const skillsIdentifier = 'io.modelcontextprotocol/skills'

/** How a folder of skills is served. */
export interface SkillsOptions {
  /** The scopes that a principal must hold to see any of it. Default: everybody does. */
  readonly scopes?: readonly string[]
  /** How long what is told of skills, and their files, may be kept. Default: not at all. With scopes always `private`. */
  readonly cache?: CacheHints
  /** Skills on one page of `skills/list`, and entries on one of `resources/directory/read`. Default 50. */
  readonly pageSize?: number
}

/** Skills as an extension, whose folder can be read anew. */
export interface SkillsExtension extends Extension {
  /** Reads the folder again and tells clients what changed. @throws as {@link skills} does; then all stays as it was */
  reload(): void
}

/**
 * Serves the skills below `folder` (`io.modelcontextprotocol/skills`): each directory with a SKILL.md is one, and every
 * file of it a resource `skill://…`. The folder is read once, so that files and the digests that hosts hold them against
 * belong together whatever happens on the disk; see {@link SkillsExtension.reload}.
 * @throws an error that names the file which is wrong, and says how
 */
export function skills(folder: string, options: SkillsOptions = {}): SkillsExtension {
  const { scopes, pageSize = 50 } = options
  const cache = {
    ttlMs: options.cache?.ttlMs ?? 0,
    cacheScope: scopes ? 'private' : (options.cache?.cacheScope ?? 'public'),
  } as const
  const servers = new Set<ServerHandle>()
  let current = readSkillFolder(folder)

  const primitivesOf = (read: SkillFolder): ReadonlyMap<string, ResourceValue> =>
    new Map([...read.files].map(([uri, file]) => [uri, toResource(file, { cache, ...(scopes && { scopes }) })]))
  const sees = (principal: Principal | undefined): boolean => isVisible({ scopes }, principal)

  return {
    identifier: skillsIdentifier,
    settings: { directoryRead: true },
    primitives: [...primitivesOf(current).values()],
    methods: [
      method('skills/list', { declaredBy: 'server' }, (params, { principal }) => {
        const page = pageAfter(sees(principal) ? current.skills : [], textIn(params, 'cursor'), pageSize)
        return { skills: page.items.map(toEntry), ...page.next, ...cache }
      }),
      method('skills/get', { declaredBy: 'server' }, (params, { principal }) => {
        const uri = uriIn(params)
        const skill = sees(principal) ? current.skills.find((each) => each.uri === uri) : undefined
        if (!skill) throw new Refusal('InvalidArguments', { message: 'No skill is served under this URI.' })
        return { skill: toEntry(skill), ...cache }
      }),
      method('resources/directory/read', { declaredBy: 'server' }, (params, { principal }) => {
        const uri = uriIn(params)
        const directory = sees(principal) ? current.directories.get(uri) : undefined
        if (!directory) throw new Refusal('InvalidArguments', { message: 'This URI is not that of a directory.' })
        const page = pageAfter(childrenOf(directory, current), textIn(params, 'cursor'), pageSize)
        return { resources: page.items, ...page.next }
      }),
    ],
    start: (server) => void servers.add(server),
    reload: () => {
      const next = readSkillFolder(folder)
      const fresh = primitivesOf(next)
      for (const server of servers) replaceAll(server, current, next, fresh)
      current = next
    },
  }
}

function textIn(params: JsonObject, name: string): string | undefined {
  const value = own(params, name)
  if (value !== undefined && typeof value !== 'string') throw new Refusal('MalformedParams')
  return value
}

function uriIn(params: JsonObject): string {
  const uri = textIn(params, 'uri')
  if (uri === undefined) throw new Refusal('MalformedParams')
  return uri
}

function replaceAll(
  server: ServerHandle,
  before: SkillFolder,
  after: SkillFolder,
  fresh: ReadonlyMap<string, ResourceValue>,
): void {
  for (const uri of before.files.keys()) if (!after.files.has(uri)) server.remove('resource', uri)
  for (const [uri, value] of fresh) {
    const known = before.files.get(uri)
    if (known?.digest === after.files.get(uri)?.digest) continue
    server.replace(value)
    if (known) server.updated(uri)
  }
}

/** A file as a resource (Skills, "Resource Metadata"). */
function toResource(file: SkillFile, more: Pick<ResourceValue['config'], 'cache' | 'scopes'>): ResourceValue {
  const { uri: _, ...listed } = listingOf(file)
  const { bytes, isText } = file
  const text = isText ? Buffer.from(bytes).toString('utf8') : undefined
  return resource(file.uri, { ...listed, ...more }, () => text ?? bytes)
}

/** What is listed of a file or a directory. */
type Listing = Readonly<Record<'uri' | 'name' | 'mimeType', string>> &
  Readonly<Partial<{ description: string; size: number }>>

function listingOf({ uri, name, mimeType, bytes, frontmatter }: SkillFile): Listing {
  const said = frontmatter ? { name: frontmatter.name, description: frontmatter.description } : { name }
  return { uri, ...said, mimeType, size: bytes.length }
}

function toEntry({ uri, frontmatter, files }: Skill) {
  return {
    uri,
    frontmatter,
    resources: files.map(({ uri: of, digest, bytes }) => ({ uri: of, digest, size: bytes.length })),
  }
}

function childrenOf({ files, directories }: SkillDirectory, folder: SkillFolder): readonly Listing[] {
  const inside = files.flatMap((uri) => folder.files.get(uri) ?? []).map(listingOf)
  const below = directories.flatMap((uri) => folder.directories.get(uri) ?? [])
  return [...inside, ...below.map(({ uri, name }) => ({ uri, name, mimeType: 'inode/directory' }))]
}

/** One page of what is sorted by URI. A cursor is the last URI of a page, so it means the same on every replica. */
function pageAfter<T extends { readonly uri: string }>(
  items: readonly T[],
  cursor: string | undefined,
  size: number,
): { readonly items: readonly T[]; readonly next: { readonly nextCursor?: string } } {
  const after = cursor === undefined ? -1 : items.findIndex(({ uri }) => cursorOf(uri) === cursor)
  if (cursor !== undefined && after < 0) throw new Refusal('BadCursor')
  const shown = items.slice(after + 1, after + 1 + size)
  const last = shown.at(-1)
  const more = last !== undefined && after + 1 + size < items.length
  return { items: shown, next: more ? { nextCursor: cursorOf(last.uri) } : {} }
}

function cursorOf(uri: string): string {
  return Buffer.from(uri).toString('base64url')
}
