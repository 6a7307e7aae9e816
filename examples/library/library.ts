import { z } from 'zod'
import type { Database } from './database.ts'

export const book = z.object({
  id: z.int().describe('Its number at Project Gutenberg'),
  title: z.string(),
  author: z.string(),
  language: z.string().describe('The language it was written in'),
  year: z.int().describe('First published in full'),
})
export type Book = z.infer<typeof book>

export const loan = z.object({
  id: z.int(),
  book: z.int(),
  title: z.string(),
  reader: z.string(),
  lentOn: z.iso.date(),
  dueOn: z.iso.date(),
})
export type Loan = z.infer<typeof loan>

export const shelf = z.object({
  language: z.string(),
  books: z.int(),
  lent: z.int().describe('How many of them are out'),
  overdue: z.int(),
})
export type Shelf = z.infer<typeof shelf>

/** What can be done in a library. It knows nothing of the protocol. */
export interface Library {
  /** Books whose title or author contains `text`, oldest first. */
  search(text: string, limit: number): Book[]
  find(id: number): Book | undefined
  by(author: string): Book[]
  in(language: string): Book[]
  authors(): string[]
  shelves(): Shelf[]
  /** The loans that are not back yet, of everybody or of one reader. */
  loans(reader?: string): Loan[]
  /** @throws if the book is out already */
  lend(book: number, reader: string, days: number): Loan
  /** Returns whether the book was out. */
  takeBack(book: number): boolean
  /** The whole stock as CSV, RFC 4180. */
  csv(): string
}

export function createLibrary(database: Database): Library {
  /** Rows in the order of their years, each checked against its schema. */
  const selectBooks = (where: string, ...values: (string | number)[]): Book[] =>
    book.array().parse(database.prepare(`select * from books where ${where} order by year, id limit ?`).all(...values))

  const selectLoans = (where: string, ...values: (string | number)[]): Loan[] =>
    loan.array().parse(database.prepare(`${openLoans} and ${where} order by loans.id`).all(...values))

  return {
    search: (text, limit) => selectBooks(`instr(lower(title || ' ' || author), lower(?)) > 0`, text, limit),
    find: (id) => selectBooks('id = ?', id, 1)[0],
    by: (author) => selectBooks('author = ?', author, all),
    in: (language) => selectBooks('language = ?', language, all),
    authors: () =>
      z
        .object({ author: z.string() })
        .array()
        .parse(database.prepare(authors).all())
        .map((row) => row.author),
    shelves: () => shelf.array().parse(database.prepare(shelves).all()),
    loans: (reader) => (reader === undefined ? selectLoans('true') : selectLoans('reader = ?', reader)),

    lend(id, reader, days) {
      const lend = database.prepare(`insert into loans (book, reader, due_on) values (?, ?, date('now', ?))`)
      lend.run(id, reader, `${days} days`)
      const [lent] = selectLoans('book = ?', id)
      if (lent === undefined) throw new Error(`The loan of book ${id} was not kept`)
      return lent
    },

    takeBack(id) {
      const wasOut = selectLoans('book = ?', id).length > 0
      database.prepare('update loans set returned_on = current_date where book = ? and returned_on is null').run(id)
      return wasOut
    },

    csv() {
      const rows = selectBooks('true', all).map((row) => Object.values(row).map(quote).join(','))
      return [Object.keys(book.shape).join(','), ...rows, ''].join('\r\n')
    },
  }
}

/** SQLite's way to say "no limit". */
const all = -1

const openLoans = `
  select loans.id, book, title, reader, lent_on as lentOn, due_on as dueOn
  from loans join books on books.id = book
  where returned_on is null`

const authors = 'select distinct author from books order by author'

const shelves = `
  select language, count(*) as books, count(loans.id) as lent, count(iif(due_on < current_date, 1, null)) as overdue
  from books left join loans on loans.book = books.id and returned_on is null
  group by language order by language`

function quote(value: string | number): string {
  return /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)
}
