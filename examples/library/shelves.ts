import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { apps, appTool, view } from '../../src/apps.ts'
import { result, tool } from '../../src/index.ts'
import type { Extension } from '../../src/index.ts'
import { shelf } from './library.ts'
import type { Library } from './library.ts'

const html = readFileSync(new URL('shelves.html', import.meta.url), 'utf8')
const stock = z.object({ shelves: shelf.array(), books: z.int(), lent: z.int() })

/** The shelves as a page beside the conversation, in hosts that show such; the same as text in all others. */
export function createShelvesApp(library: Library): Extension {
  const shelves = view('ui://library/shelves', { name: 'shelves', ui: { prefersBorder: true } }, html)

  const count = (): z.infer<typeof stock> => {
    const found = library.shelves()
    const sum = (of: 'books' | 'lent'): number => found.reduce((total, each) => total + each[of], 0)
    return { shelves: found, books: sum('books'), lent: sum('lent') }
  }

  const showShelves = tool(
    'show_shelves',
    {
      title: 'Show the shelves',
      description: 'How many books are on each shelf, how many are out and how many overdue',
      output: stock,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () => {
      const counted = count()
      const lines = counted.shelves.map(({ language, books, lent }) => `${language}: ${books - lent} of ${books} in`)
      return result({ structuredContent: counted, content: [{ type: 'text', text: lines.join('\n') }] })
    },
  )

  // For the page's button alone: no model sees it.
  const countShelves = tool('count_shelves', { output: stock, annotations: { readOnlyHint: true } }, count)

  return apps({
    views: [shelves],
    tools: [appTool(showShelves, { view: shelves }), appTool(countShelves, { visibility: ['app'] })],
  })
}
