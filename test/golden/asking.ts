import { z } from 'zod'
import { form, inputRequired, tool, UrlElicitationRequired } from '../../src/index.ts'
import type { ToolValue } from '../../src/index.ts'

const sure = form(z.object({ sure: z.boolean() }))
const name = form(z.object({ name: z.string() }))

/** One field of every kind that forms have since the first revision with forms. */
const order = form({
  type: 'object',
  properties: {
    email: { type: 'string', title: 'Address', description: 'Where to write', format: 'email' },
    note: { type: 'string', minLength: 1, maxLength: 20, default: 'none' },
    grams: { type: 'number', minimum: 0.5, maximum: 9.5 },
    pieces: { type: 'integer', minimum: 1, default: 2 },
    gift: { type: 'boolean', default: false },
    size: { type: 'string', enum: ['s', 'm'] },
    colour: {
      type: 'string',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'b', title: 'Blue' },
      ],
    },
  },
  required: ['email'],
})

const choices = form({
  type: 'object',
  properties: { days: { type: 'array', items: { type: 'string', enum: ['mo', 'tu'] }, minItems: 1 } },
  required: ['days'],
})

const deploy = tool(
  'deploy',
  { description: 'Deploys once the user is sure', input: z.object({ env: z.string() }) },
  async ({ env }, ctx) => {
    const answer = await ctx.elicit('sure', sure, `Deploy to ${env}?`)
    return answer.action === 'accept' && answer.content.sure ? `deployed to ${env}` : `not deployed: ${answer.action}`
  },
)

const buy = tool('buy', { description: 'Takes an order' }, async (_, ctx) => {
  const answer = await ctx.elicit('order', order, 'What shall it be?')
  return answer.action === 'accept' ? JSON.stringify(answer.content) : answer.action
})

const days = tool('days', { description: 'Asks for several of a list' }, async (_, ctx) => {
  const answer = await ctx.elicit('days', choices, 'Which days?')
  return answer.action === 'accept' ? JSON.stringify(answer.content) : answer.action
})

const both = tool('both', { description: 'Asks two questions at once' }, async (_, ctx) => {
  const [first, second] = await Promise.all([
    ctx.elicit('first', name, 'Your name?'),
    ctx.elicit('second', sure, 'Sure?'),
  ])
  return `${first.action} and ${second.action}`
})

const visit = tool('visit', { description: 'Sends the user to a page' }, async (_, ctx) => {
  const { action } = await ctx.elicitUrl('pay', 'https://golden.example/pay', 'Please pay')
  return action
})

const pay = tool('pay', { description: 'Cannot go on before the user paid' }, () => {
  throw new UrlElicitationRequired([{ elicitationId: 'pay', url: 'https://golden.example/pay', message: 'Please pay' }])
})

const say = tool('say', { description: 'Asks the model of the client', needs: ['sampling'] }, async (_, ctx) => {
  const said = await ctx.sample('word', {
    messages: [{ role: 'user', content: { type: 'text', text: 'Say one word.' } }],
    maxTokens: 10,
    systemPrompt: 'Be brief.',
    temperature: 0.5,
    stopSequences: ['.'],
    modelPreferences: { hints: [{ name: 'small' }], speedPriority: 1 },
  })
  return JSON.stringify(said.content)
})

const act = tool('act', { description: 'Asks the model of the client, and lends it a tool' }, async (_, ctx) => {
  const said = await ctx.sample('act', {
    messages: [{ role: 'user', content: { type: 'text', text: 'Roll a die.' } }],
    maxTokens: 10,
    tools: [{ name: 'roll', inputSchema: { type: 'object' } }],
    toolChoice: { mode: 'required' },
  })
  return JSON.stringify(said.content)
})

const where = tool('where', { description: 'Asks for the roots of the client' }, async (_, ctx) => {
  const roots = await ctx.roots()
  return roots.map(({ uri }) => uri).join(' ')
})

const raw = tool('raw', { description: 'Speaks the raw protocol of rounds' }, (_, ctx) => {
  if (ctx.inputResponses === undefined) {
    return inputRequired({ inputRequests: { roots: { method: 'roots/list' } }, state: { visits: 1 } })
  }
  return `${JSON.stringify(ctx.inputResponses)} after ${JSON.stringify(ctx.state)}`
})

/** Tools that ask the client. */
export function askingTools(): ToolValue[] {
  const runs = { books: 0, tells: 0 }
  const journey = tool('journey', { description: 'Asks, works, asks again, works again' }, async (_, ctx) => {
    const who = await ctx.elicit('who', name, 'Your name?')
    if (who.action !== 'accept') return 'nobody'
    const booked = await ctx.step('book', () => ({ seat: runs.books++, for: who.content.name }))
    const go = await ctx.elicit('go', sure, `Seat ${booked.seat}, ${booked.for}?`)
    await ctx.step('tell', () => runs.tells++)
    return `${go.action}: seat ${booked.seat} for ${booked.for}, ${runs.books} booked, ${runs.tells} told`
  })
  return [deploy, buy, days, both, journey, visit, pay, say, act, where, raw]
}
