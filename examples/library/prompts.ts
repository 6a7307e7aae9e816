import { prompt } from '../../src/index.ts'
import type { PromptValue } from '../../src/index.ts'
import type { Library } from './library.ts'
import { contains } from './resources.ts'

export function createPrompts(library: Library): PromptValue[] {
  const languages = library.shelves().map(({ language }) => language)

  return [
    prompt(
      'reading_plan',
      {
        title: 'Plan what to read',
        description: 'Makes a plan from the books of one language that the library has',
        arguments: {
          language: {
            description: 'The language the books were written in',
            required: true,
            complete: (typed) => languages.filter((language) => contains(language, typed)),
          },
          weeks: { description: 'How many weeks there are; four if not said' },
        },
      },
      ({ language, weeks = '4' }) => ({
        description: `A plan for ${language} books`,
        messages: [
          {
            role: 'user',
            content: { type: 'text', text: `Plan ${weeks} weeks of reading, one book a week, from these. Say why.` },
          },
          {
            role: 'user',
            content: {
              type: 'resource',
              resource: {
                uri: 'library://catalogue.csv',
                mimeType: 'text/plain',
                text: library
                  .in(language)
                  .map(({ title, author, year }) => `${title} (${author}, ${year})`)
                  .join('\n'),
              },
            },
          },
        ],
      }),
    ),

    prompt(
      'who_wrote_this',
      {
        title: 'Ask about an author',
        arguments: {
          author: {
            required: true,
            complete: (typed) => library.authors().filter((author) => contains(author, typed)),
          },
        },
      },
      ({ author }) =>
        `Who was ${author}? Recommend one of their books; library://authors/${encodeURIComponent(author)} has those we own.`,
    ),
  ]
}
