// Defends: among many servers a tool has one name that every model takes, that depends on nothing but who offers it, and
// that means nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createToolNames } from '../../src/client/tool-names.ts'

const alphabet = fc.constantFrom('a', 'b', '_', '-', '.', ' ', 'ä', '0')
const word = fc.oneof(
  fc.string({ unit: alphabet, maxLength: 5 }),
  fc.string({ maxLength: 90 }),
  fc.string({ unit: alphabet, minLength: 50, maxLength: 70 }),
  fc.constantFrom('a_b_0123456789ab', 'b_0123456789ab'),
)
const servers = fc.uniqueArray(word, { minLength: 1, maxLength: 5 })

test('names are short, plain, different for different tools, and lead back to them', () => {
  fc.assert(
    fc.property(servers, fc.uniqueArray(word, { minLength: 1, maxLength: 8 }), (all, tools) => {
      const names = createToolNames(all)
      const owners = new Map<string, string>()
      for (const server of all) {
        for (const tool of tools) {
          const name = names.toName(server, tool)
          assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
          assert.equal(owners.get(name), undefined)
          owners.set(name, server)
          assert.ok(names.candidates(name).includes(server))
          const read = names.fromName(name)
          if (read) assert.deepEqual(read, { server, tool })
          else assert.match(name, /_[\da-f]{12}$/)
        }
      }
    }),
  )
})

test('neither the order of the servers nor what else is offered changes a name', () => {
  fc.assert(
    fc.property(servers, word, (all, tool) => {
      const [forth, back] = [createToolNames(all), createToolNames([...all].reverse())]
      for (const server of all) assert.equal(forth.toName(server, tool), back.toName(server, tool))
    }),
  )
})

test('any text is read without fault, and is a name only of the tool that has it', () => {
  fc.assert(
    fc.property(
      servers,
      fc.oneof(
        word,
        fc.tuple(word, word).map((both) => both.join('_')),
      ),
      (all, text) => {
        const names = createToolNames(all)
        const read = names.fromName(text)
        if (read) assert.equal(names.toName(read.server, read.tool), text)
      },
    ),
  )
})

test('examples, which are not to change', () => {
  const names = createToolNames(['github', 'a', 'a_b', 'my files', 'my_files', 'x'.repeat(40)])
  const long = `${'list_'.repeat(9)}all`
  for (const [server, tool, name] of [
    ['github', 'search_repository', 'github_search_repository'],
    ['github', 'repos.search', 'github_repos_search_3f547bda0ac2'],
    ['a_b', 'c', 'a_b_c'],
    ['a', 'b_c', 'a_b_c_72502d35ed03'],
    ['my files', 'read', 'my_files_read_fcc41ef88e0d'],
    ['my_files', 'read', 'my_files_read_98143d445a04'],
    ['x'.repeat(40), long, 'xxxxxxxxxxxxxxxxxxxx_list_list_list_list_list_list__e37daae35e2b'],
  ] as const) {
    assert.equal(names.toName(server, tool), name)
  }
})
