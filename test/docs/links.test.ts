import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { filesUnder } from '../../tools/files.ts'

const pages = [
  ...readdirSync('.').filter((file) => file.endsWith('.md')),
  ...['docs', 'src', 'examples', 'conformance'].flatMap((root) => filesUnder(root, '.md')),
]

/** A page without its code, whose links are somebody else's. */
function prose(page: string): string {
  return readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
}

test('every relative link of the documentation leads to a file', () => {
  const dead = pages.flatMap((page) =>
    [...prose(page).matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  )
  assert.deepEqual(dead, [])
})

test('every page under docs/ can be reached from the README or from another page', () => {
  const linked = new Set(
    pages.flatMap((page) =>
      [...prose(page).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target = '']) => join(dirname(page), target)),
    ),
  )
  assert.deepEqual(
    pages.filter((page) => page.startsWith('docs/') && !linked.has(page)),
    [],
  )
})
