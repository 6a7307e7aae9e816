import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { form, result, tool, ToolError } from '../../src/index.ts'
import type { ToolValue } from '../../src/index.ts'
import { book, loan, shelf } from './library.ts'
import type { Library } from './library.ts'

const terms = form(z.object({ days: z.int().min(1).max(28).default(14).describe('Days until the book is due') }))

export function createTools(library: Library): ToolValue[] {
  /** The book of this number, or a "no" that the model can read. */
  const need = (id: number): z.infer<typeof book> => {
    const found = library.find(id)
    if (!found) throw new ToolError(`There is no book ${id}; search_books tells the numbers`)
    return found
  }

  return [
    // With an output schema the handler returns the value. `result` says more: here, links to follow.
    tool(
      'search_books',
      {
        title: 'Search the catalogue',
        description: 'Finds books by words of their title or author',
        input: z.object({ text: z.string().min(1), limit: z.int().min(1).max(50).default(10) }),
        output: z.object({ books: book.array() }),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      ({ text, limit }) => {
        const books = library.search(text, limit)
        const links = books.map(({ id, title, author }) => ({
          type: 'resource_link' as const,
          uri: `library://books/${id}`,
          name: title,
          description: `by ${author}`,
          mimeType: 'text/markdown',
        }))
        return result({
          structuredContent: { books },
          content: [{ type: 'text', text: JSON.stringify({ books }) }, ...links],
        })
      },
    ),

    // Asks the user before it does anything. The step runs once, however often the handler is run again.
    tool(
      'lend_book',
      {
        title: 'Lend a book',
        description: 'Lends a book to a reader, once the user has agreed and said for how long',
        input: z.object({ book: z.int(), reader: z.string().min(1) }),
        output: loan,
        annotations: { destructiveHint: false, openWorldHint: false },
      },
      async ({ book, reader }, ctx) => {
        const { title } = need(book)
        const answer = await ctx.elicit('terms', terms, `Lend “${title}” to ${reader}?`)
        if (answer.action !== 'accept') throw new ToolError('Nothing was lent: the user did not agree')
        return ctx.step('lend', () => {
          const [out] = library.loans().filter((each) => each.book === book)
          if (out) throw new ToolError(`“${title}” is out until ${out.dueOn}`)
          return library.lend(book, reader, answer.content.days)
        })
      },
    ),

    tool(
      'return_book',
      {
        title: 'Take a book back',
        description: 'Notes that a book is back',
        input: z.object({ book: z.int() }),
        annotations: { idempotentHint: true, openWorldHint: false },
      },
      ({ book }) => {
        const { title } = need(book)
        return library.takeBack(book) ? `“${title}” is back` : `“${title}” was not out`
      },
    ),

    // An output that is a list, not an object: only the newest revision can say so, older ones get it as text.
    tool(
      'list_loans',
      {
        title: 'Who has what',
        description: 'The books that are out, of everybody or of one reader',
        input: z.object({ reader: z.string().optional() }),
        output: loan.array(),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      ({ reader }) => library.loans(reader),
    ),

    // Takes its time, says how far it is, and stops when it is cancelled.
    tool(
      'take_stock',
      {
        title: 'Take stock',
        description: 'Walks along the shelves, one for each language, and counts',
        input: z.object({ pace: z.int().min(0).max(5000).default(200).describe('Milliseconds for each shelf') }),
        output: z.object({ shelves: shelf.array(), books: z.int(), lent: z.int() }),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      async ({ pace }, ctx) => {
        const shelves = library.shelves()
        for (const [index, { language, books }] of shelves.entries()) {
          ctx.progress(index + 1, shelves.length, `${language}: ${books} books`)
          await sleep(pace, undefined, { signal: ctx.signal })
        }
        const total = (count: (each: (typeof shelves)[number]) => number): number =>
          shelves.reduce((sum, each) => sum + count(each), 0)
        return { shelves, books: total((each) => each.books), lent: total((each) => each.lent) }
      },
    ),
  ]
}
