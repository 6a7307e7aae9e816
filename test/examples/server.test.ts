import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../examples/library/database.ts'
import { createLibrary } from '../../examples/library/library.ts'
import type { Library } from '../../examples/library/library.ts'
import { createLibraryServer } from '../../examples/library/server.ts'
import { testClient } from '../../src/testing/client.ts'
import type { AnswerAsk, TestClient } from '../../src/testing/client.ts'

const revisions = ['2025-06-18', '2025-11-25', '2026-07-28']

async function visit(revision: string, answer: AnswerAsk): Promise<{ library: Library; client: TestClient }> {
  const library = createLibrary(openDatabase(':memory:'))
  const server = createLibraryServer(library)
  return { library, client: await testClient(server, { revision, answer, capabilities: { elicitation: {} } }) }
}

const lend = { name: 'lend_book', arguments: { book: 2701, reader: 'Ada' } }

for (const revision of revisions) {
  test(`${revision}: lends what the user agrees to, once`, async () => {
    let asked = 0
    const { library, client } = await visit(revision, () => (asked++, { action: 'accept', content: { days: 7 } }))
    const { result } = await client.request('tools/call', lend)
    assert.deepEqual(result?.['structuredContent'], library.loans('Ada')[0])
    const again = await client.request('tools/call', lend)
    assert.equal(again.result?.['isError'], true)
    assert.match(JSON.stringify(again.result), /is out until/)
    assert.equal(library.loans().length, 1)
    assert.equal(asked, 2)
  })

  test(`${revision}: lends nothing to who declines, or agrees to more than 28 days`, async () => {
    const replies = [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { days: 29 } }]
    for (const reply of replies) {
      // A wrong answer is asked for again from 2026-07-28 on; then the user gives up.
      let rounds = 0
      const { library, client } = await visit(revision, () => (rounds++ === 0 ? reply : { action: 'cancel' }))
      const { result, error } = await client.request('tools/call', lend)
      assert.ok(error !== undefined || result?.['isError'] === true, JSON.stringify(reply))
      assert.deepEqual(library.loans(), [])
    }
  })
}

test('tells what there is not', async () => {
  const { client } = await visit('2026-07-28', () => undefined)
  const { result } = await client.request('tools/call', { name: 'lend_book', arguments: { book: 1, reader: 'Ada' } })
  assert.match(JSON.stringify(result), /There is no book 1/)
  const { error } = await client.request('resources/read', { uri: 'library://books/1' })
  assert.match(error?.message ?? '', /There is no library:\/\/books\/1/)
})
