import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

test('the lockfile names no registry, so that an install asks whichever one the user has set', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { resolved?: string; integrity?: string }>
  }
  const located = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)
  assert.deepEqual(located, [])
})

test('every locked package carries its checksum', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { integrity?: string; inBundle?: boolean }>
  }
  const bare = Object.entries(packages).filter(
    ([path, { integrity, inBundle }]) => path !== '' && !inBundle && integrity === undefined,
  )
  assert.deepEqual(
    bare.map(([path]) => path),
    [],
  )
})
