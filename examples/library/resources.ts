import { gzipSync } from 'node:zlib'
import { resource, template } from '../../src/index.ts'
import type { ResourceValue, TemplateValue } from '../../src/index.ts'
import type { Book, Library } from './library.ts'

const minute = 60_000

export function createResources(library: Library): (ResourceValue | TemplateValue)[] {
  return [
    // The stock does not change while the server runs, so anybody may keep it for a while.
    resource(
      'library://catalogue.csv',
      {
        name: 'catalogue',
        title: 'The whole catalogue',
        description: 'Every book as a row of CSV',
        mimeType: 'text/csv',
        cache: { ttlMs: 10 * minute, cacheScope: 'public' },
      },
      () => library.csv(),
    ),

    // Bytes are sent as a blob.
    resource(
      'library://catalogue.csv.gz',
      { name: 'catalogue.gz', title: 'The whole catalogue, compressed', mimeType: 'application/gzip' },
      () => gzipSync(library.csv()),
    ),

    template(
      'library://books/{id}',
      { name: 'book', title: 'A book', description: 'The card of one book', mimeType: 'text/markdown' },
      ({ id }, _, uri) => {
        const found = library.find(Number(id))
        if (!found) throw new Error(`There is no ${uri}`)
        return card(found)
      },
    ),

    // The completer of a variable helps to fill it in: authors whose name contains what was typed.
    template(
      'library://authors/{author}',
      {
        name: 'author',
        title: 'An author',
        description: 'The books of one author',
        mimeType: 'text/markdown',
        complete: { author: (typed) => library.authors().filter((name) => contains(name, typed)) },
      },
      ({ author }) => {
        const books = library.by(String(author))
        if (books.length === 0) throw new Error(`Nothing by ${String(author)} here`)
        return books.map(card).join('\n\n')
      },
    ),
  ]
}

export function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}

function card({ id, title, author, language, year }: Book): string {
  return `# ${title}\n\n${author}, ${year}. Written in ${language}. https://www.gutenberg.org/ebooks/${id}`
}
