import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Manifest {
  readonly dependencies: Record<string, string>
  readonly devDependencies: Record<string, string>
  readonly peerDependencies: Record<string, string>
  readonly peerDependenciesMeta: Record<string, { readonly optional: boolean }>
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const page = readFileSync('docs/dependencies.md', 'utf8')

test('every run-time dependency is argued in docs/dependencies.md, under its own heading', () => {
  for (const name of Object.keys(manifest.dependencies)) assert.match(page, new RegExp(`^## ${name}: `, 'm'))
})

test('every peer is optional, and named in docs/dependencies.md', () => {
  for (const name of Object.keys(manifest.peerDependencies)) {
    assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name)
    assert.ok(page.includes(`\`${name}\``), name)
  }
})

test('tools are pinned to one version', () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
    assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
})
