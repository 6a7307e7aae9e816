// One visit to the library: everything it offers is called once, and each answer is compared with the database.
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import type { Library } from '../library/library.ts'
import { answer, answers } from './visitor.ts'
import type { Visitor } from './visitor.ts'

/** What a revision can express, of what the library says. */
export interface Expected {
  readonly structuredObjects: boolean
  readonly structuredLists: boolean
  readonly links: boolean
  /** Whether the user can be asked. */
  readonly asks: boolean
}

export interface Step {
  readonly called: string
  readonly came: string
  readonly failed: boolean
}

/** Goes through the library as `reader`. `library` is opened on the same file that the server works on. */
export async function visit(visitor: Visitor, library: Library, reader: string, can: Expected): Promise<Step[]> {
  const steps: Step[] = []
  const step = async (called: string, run: () => Promise<string>): Promise<void> => {
    try {
      steps.push({ called, came: await run(), failed: false })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      steps.push({ called, came: `FAILED: ${reason.replace(/\s+/g, ' ')}`, failed: true })
    }
  }
  const call = async (name: string, args: Record<string, unknown>, onProgress?: (progress: number) => void) =>
    answers.tool.parse(await visitor.callTool(name, args, onProgress))

  await step('tools/list', async () => {
    const names = answers.tools.parse(await visitor.listTools()).tools.map(({ name }) => name)
    assert.deepEqual(names, ['search_books', 'lend_book', 'return_book', 'list_loans', 'take_stock'])
    return `${names.length} tools`
  })

  await step('search_books whale', async () => {
    const { content, structuredContent } = await call('search_books', { text: 'whale' })
    const expected = { books: library.search('whale', 10) }
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), expected)
    assert.deepEqual(structuredContent, can.structuredObjects ? expected : undefined)
    assert.deepEqual(
      content.slice(1).map(({ type }) => type),
      expected.books.map(() => (can.links ? 'resource_link' : 'text')),
    )
    return `${expected.books.map(({ title }) => title).join()}, as ${can.structuredObjects ? 'data and text' : 'text'}; its card as ${can.links ? 'a link' : 'text'}`
  })

  await step('take_stock, with progress', async () => {
    const reports: number[] = []
    const { content } = await call('take_stock', { pace: 20 }, (progress) => reports.push(progress))
    const shelves = library.shelves()
    const stock = JSON.parse(content[0]?.text ?? '')
    assert.deepEqual(stock.shelves, shelves)
    assert.deepEqual(
      reports,
      shelves.map((_, index) => index + 1),
    )
    return `${stock.books} books; progress ${reports.join(' ')}`
  })

  await step(`lend_book 2701 to ${reader}`, async () => {
    if (!can.asks) return refused(call('lend_book', { book: 2701, reader }), library, reader)
    const lent = JSON.parse((await call('lend_book', { book: 2701, reader })).content[0]?.text ?? '')
    assert.deepEqual(library.loans(reader), [lent])
    assert.equal(Date.parse(lent.dueOn) - Date.parse(lent.lentOn), answer.content.days * 86_400_000)
    assert.deepEqual(visitor.asked, [`Lend “Moby-Dick; or, The Whale” to ${reader}?`])
    return `asked the user, who said ${answer.content.days} days; lent until ${lent.dueOn}`
  })

  await step('list_loans', async () => {
    const { content, structuredContent } = await call('list_loans', { reader })
    const expected = library.loans(reader)
    assert.equal(expected.length, can.asks ? 1 : 0)
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), expected)
    assert.deepEqual(structuredContent, can.structuredLists ? expected : undefined)
    return `${expected.length} ${expected.length === 1 ? 'loan' : 'loans'}, as ${can.structuredLists ? 'data and text' : 'text'}`
  })

  await step('return_book 2701', async () => {
    const { content } = await call('return_book', { book: 2701 })
    assert.equal(content[0]?.text, `“Moby-Dick; or, The Whale” ${can.asks ? 'is back' : 'was not out'}`)
    assert.deepEqual(library.loans(reader), [])
    return content[0].text
  })

  await step('return_book 1, which is none', async () => {
    const { content, isError } = await call('return_book', { book: 1 })
    assert.equal(isError, true)
    assert.match(content[0]?.text ?? '', /There is no book 1/)
    return `“no”: ${content[0]?.text}`
  })

  await step('read catalogue.csv', async () => {
    const { contents } = answers.contents.parse(await visitor.read('library://catalogue.csv'))
    assert.equal(contents[0]?.text, library.csv())
    return `${contents[0]?.text?.split('\r\n').length} lines`
  })

  await step('read catalogue.csv.gz', async () => {
    const { contents } = answers.contents.parse(await visitor.read('library://catalogue.csv.gz'))
    const bytes = Buffer.from(contents[0]?.blob ?? '', 'base64')
    assert.equal(gunzipSync(bytes).toString(), library.csv())
    return `${bytes.length} bytes`
  })

  await step('read books/2701', async () => {
    const { contents } = answers.contents.parse(await visitor.read('library://books/2701'))
    assert.ok(contents[0]?.text?.includes(library.find(2701)?.title ?? '?'))
    return contents[0]?.text?.split('\n')[0] ?? ''
  })

  await step('complete authors “bron”', async () => {
    const found = await visitor.complete('library://authors/{author}', 'author', 'bron')
    const { values } = answers.completion.parse(found).completion
    assert.deepEqual(
      values,
      library.authors().filter((name) => /bron/i.test(name)),
    )
    return values.join(', ')
  })

  await step('prompt reading_plan German', async () => {
    const { messages } = answers.prompt.parse(await visitor.prompt('reading_plan', { language: 'German' }))
    const titles = messages[1]?.content.resource?.text?.split('\n') ?? []
    assert.equal(titles.length, library.in('German').length)
    for (const [index, { title }] of library.in('German').entries()) assert.ok(titles[index]?.startsWith(title))
    return `${messages.length} messages, ${titles.length} books`
  })

  return steps
}

/** A client that cannot be asked is told so, and nothing is lent. */
async function refused(
  calling: Promise<{ isError?: boolean | undefined }>,
  library: Library,
  reader: string,
): Promise<string> {
  const outcome = await calling.then(
    ({ isError }) => (isError ? 'isError' : undefined),
    (error: unknown) => `“${error instanceof Error ? error.message : String(error)}”`,
  )
  assert.ok(outcome !== undefined, 'it was lent without asking')
  assert.deepEqual(library.loans(reader), [])
  return `refused, as it should be: no way to ask the user (${outcome})`
}
