import { readFileSync } from 'node:fs'
import { connectOfficialV1 } from './official-v1.ts'
import { connectOfficialV2, offer } from './official-v2.ts'
import { connectRaw } from './raw.ts'
import type { Expected } from './visit.ts'
import type { Reach, Visitor } from './visitor.ts'

/** One client of the demo: what it speaks, how it gets there, and what it must see. */
export interface Row {
  readonly revision: string
  readonly transport: 'http' | 'http+sse' | 'stdio'
  readonly client: string
  readonly expected: Expected
  /** The rules by which meaning is lost on this revision; what only decorates is not counted here. */
  readonly lost: readonly string[]
  connect(reach: Reach): Promise<Visitor>
}

const old: Expected = { structuredObjects: false, structuredLists: false, links: false, asks: false }
const middle: Expected = { structuredObjects: true, structuredLists: false, links: true, asks: true }
const newest: Expected = { structuredObjects: true, structuredLists: true, links: true, asks: true }

/** The official packages, each with the version that is installed. */
export const packages: readonly [string, string] = [
  named('@modelcontextprotocol/sdk'),
  named('@modelcontextprotocol/client'),
]

const v1 = short(packages[0])
const v2 = short(packages[1])

function withV2(revision: string, transport: Row['transport'], expected: Expected, lost: readonly string[]): Row {
  const offered = offer(revision, revision !== '2026-07-28')
  return { revision, transport, client: v2, expected, lost, connect: (reach) => connectOfficialV2(reach, offered) }
}

function withV1(transport: Row['transport'], expected: Expected, lost: readonly string[]): Row {
  return { revision: '2025-11-25', transport, client: v1, expected, lost, connect: connectOfficialV1 }
}

const overHttpRaw: Row = {
  revision: '2024-11-05',
  transport: 'http',
  client: 'raw: fetch and JSON',
  expected: old,
  lost: ['structured-content-to-text', 'link-to-text'],
  async connect(reach) {
    if (!('url' in reach)) throw new Error('The raw client knows HTTP alone')
    return connectRaw(reach.url, '2024-11-05')
  },
}

export const rows: readonly Row[] = [
  overHttpRaw,
  withV2('2024-11-05', 'http+sse', old, ['structured-content-to-text', 'link-to-text']),
  withV2('2024-11-05', 'stdio', old, ['structured-content-to-text', 'link-to-text']),
  withV2('2025-03-26', 'http', old, ['structured-content-to-text', 'link-to-text']),
  withV2('2025-03-26', 'stdio', old, ['structured-content-to-text', 'link-to-text']),
  withV2('2025-06-18', 'http', middle, ['structured-content-to-text']),
  withV2('2025-06-18', 'stdio', middle, ['structured-content-to-text']),
  withV1('http', middle, ['structured-content-to-text']),
  withV1('stdio', middle, ['structured-content-to-text']),
  withV2('2026-07-28', 'http', newest, []),
  withV2('2026-07-28', 'stdio', newest, []),
]

/** A package and the version of it that is installed. */
function named(name: string): string {
  const { version } = JSON.parse(
    readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8'),
  )
  return `${name} ${version}`
}

function short(name: string): string {
  return name.replace('@modelcontextprotocol/', '')
}
