import assert from 'node:assert/strict'
import { test } from 'node:test'
import { books } from '../../examples/library/books.ts'
import { openDatabase } from '../../examples/library/database.ts'
import { createLibrary } from '../../examples/library/library.ts'
import type { Library } from '../../examples/library/library.ts'

const open = (): Library => createLibrary(openDatabase(':memory:'))

test('the stock has each number once and no year before print', () => {
  assert.equal(new Set(books.map(([id]) => id)).size, books.length)
  for (const [id, , , , year] of books) assert.ok(year > 1450 && year < 1930, String(id))
})

test('finds books by words of title and author, oldest first', () => {
  const library = open()
  assert.deepEqual(
    library.search('AUSTEN', 2).map(({ year }) => year),
    [1811, 1813],
  )
  assert.deepEqual(library.search('%', 10), [])
  assert.equal(library.find(2701)?.author, 'Herman Melville')
  assert.equal(library.find(1), undefined)
})

test('lends a book to one reader at a time', () => {
  const library = open()
  const lent = library.lend(2701, 'Ada', 14)
  assert.equal(Date.parse(lent.dueOn) - Date.parse(lent.lentOn), 14 * 86_400_000)
  assert.throws(() => library.lend(2701, 'Bob', 14), /UNIQUE/)
  assert.deepEqual(library.loans(), [lent])
  assert.deepEqual(library.loans('Bob'), [])
  assert.equal(library.takeBack(2701), true)
  assert.equal(library.takeBack(2701), false)
  assert.equal(library.lend(2701, 'Bob', 1).reader, 'Bob')
})

test('counts what is on each shelf, out and overdue', () => {
  const library = open()
  library.lend(5200, 'Ada', 7)
  library.lend(7849, 'Ada', -1)
  assert.deepEqual(
    library.shelves().find(({ language }) => language === 'German'),
    { language: 'German', books: 3, lent: 2, overdue: 1 },
  )
  assert.equal(
    library.shelves().reduce((sum, shelf) => sum + shelf.books, 0),
    books.length,
  )
})

test('writes the stock as CSV', () => {
  const lines = open().csv().split('\r\n')
  assert.equal(lines.length, books.length + 2)
  assert.equal(lines[0], 'id,title,author,language,year')
  assert.ok(lines.includes('1342,Pride and Prejudice,Jane Austen,English,1813'))
  assert.ok(lines.includes('84,"Frankenstein; or, The Modern Prometheus",Mary Shelley,English,1818'))
})
