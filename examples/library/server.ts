import { createServer } from '../../src/index.ts'
import type { Server } from '../../src/index.ts'
import type { Library } from './library.ts'
import { createPrompts } from './prompts.ts'
import { createResources } from './resources.ts'
import { createTools } from './tools.ts'

/** One server value. It binds nothing and knows no revision: any transport can serve it, to clients of every age. */
export function createLibraryServer(library: Library): Server {
  return createServer({
    name: 'library',
    title: 'A small lending library',
    version: '1.0.0',
    instructions: 'Search first: the other tools want the number of a book. Lending asks the user.',
    tools: createTools(library),
    resources: createResources(library),
    prompts: createPrompts(library),
  })
}
