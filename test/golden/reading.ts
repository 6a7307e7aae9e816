import { form, prompt, resource, template } from '../../src/index.ts'
import type { PromptValue, ResourceValue, TemplateValue } from '../../src/index.ts'

const password = form({ type: 'object', properties: { word: { type: 'string' } }, required: ['word'] })
const styles = ['formal', 'casual', 'curt']

/** Resources and templates of every behaviour. */
export const resources = (): (ResourceValue | TemplateValue)[] => [
  resource(
    'memo://hello',
    {
      name: 'hello',
      title: 'A greeting',
      description: 'Says hello',
      mimeType: 'text/plain',
      size: 5,
      icons: [{ src: 'https://golden.example/memo.png' }],
      annotations: { audience: ['user'], priority: 1, lastModified: '2026-08-01T12:00:00Z' },
      cache: { ttlMs: 1000, cacheScope: 'public' },
      _meta: { 'golden.example/n': 2 },
    },
    () => 'hello',
  ),
  resource(
    'memo://bytes',
    { name: 'bytes', mimeType: 'application/octet-stream' },
    () => new Uint8Array([0, 1, 2, 255]),
  ),
  resource('memo://both', { name: 'both' }, () => [
    { uri: 'memo://both/1', text: 'one' },
    { uri: 'memo://both/2', mimeType: 'application/octet-stream', blob: 'Ag==' },
  ]),
  resource('memo://broken', { name: 'broken' }, () => {
    throw new Error('the memo burned')
  }),
  resource('memo://unread', { name: 'unread' }),
  resource('memo://locked', { name: 'locked' }, async (_, ctx) => {
    const said = await ctx.elicit('word', password, 'What is the word?')
    return said.action === 'accept' ? 'unlocked' : 'still locked'
  }),
  resource('note://secret', { name: 'secret', scopes: ['staff'] }, () => 'for staff'),
  template(
    'note://{id}',
    {
      name: 'note',
      title: 'Notes',
      description: 'A note by its id',
      mimeType: 'text/plain',
      annotations: { priority: 0 },
      complete: {
        id: (typed, given) =>
          ['one', 'two', 'three', given.near ?? ''].filter((id) => id !== '' && id.startsWith(typed)),
      },
    },
    ({ id }) => `note ${String(id)}`,
  ),
  template(
    'file://golden/{+path}{?page}',
    { name: 'file' },
    ({ path, page }) => `${String(path)} ${page === undefined ? 'whole' : String(page)}`,
  ),
  template('staff://{id}', { name: 'staff', scopes: ['staff'] }, () => 'for staff'),
]

/** Prompts of every behaviour. */
export const prompts = (): PromptValue[] => [
  prompt(
    'greet',
    {
      title: 'A greeting',
      description: 'Greets somebody',
      icons: [{ src: 'https://golden.example/wave.png' }],
      arguments: {
        name: { title: 'Name', description: 'Whom to greet', required: true },
        style: { complete: (typed, { name }) => styles.filter((style) => style.startsWith(typed) && style !== name) },
      },
      _meta: { 'golden.example/n': 4 },
    },
    ({ name, style = 'casual' }) => `Write a ${style} greeting to ${name}.`,
  ),
  prompt('talk', { description: 'Two speak' }, () => ({
    description: 'A talk',
    messages: [
      { role: 'user', content: { type: 'text', text: 'Hello' } },
      { role: 'assistant', content: { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' } },
      { role: 'user', content: { type: 'resource_link', uri: 'memo://hello', name: 'hello' } },
    ],
  })),
  prompt('broken', { description: 'Cannot be had' }, () => {
    throw new Error('no words left')
  }),
  prompt('unmade', { description: 'Listed, with nothing behind it' }),
  prompt('secretive', {}, async (_, ctx) => {
    const said = await ctx.elicit('word', password, 'What is the word?')
    return said.action === 'accept' ? 'It was told.' : 'It was not told.'
  }),
  prompt('staff', { scopes: ['staff'] }, () => 'for staff'),
]
