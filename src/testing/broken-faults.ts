import type { ServerCapabilities } from '../model/nouns.ts'
import { Refusal } from '../model/refusal.ts'
import type { Served } from '../model/served.ts'
import { errorText, notificationText, requestText } from '../wire/envelope.ts'
import { answerTo, isSelfContained, namedRevision, progressTokenOf, type BrokenCall } from './broken-call.ts'

/** One way to be broken. */
export interface Fault {
  /** What the server does. */
  readonly about: string
  /** What becomes of a call of a tool, in place of its answer. */
  readonly call?: (call: BrokenCall) => void
  /** What is served instead of something sound. */
  readonly serve?: (sound: Served) => Served
}

/** The name of a way to be broken. */
export type BrokenFault =
  | 'stalls'
  | 'drops'
  | 'dies'
  | 'answers-twice'
  | 'answers-another-id'
  | 'answers-mistyped-id'
  | 'answers-garbage'
  | 'floods'
  | 'progresses-forever'
  | 'speaks-another-revision'
  | 'asks-undeclared'
  | 'lies-about-capabilities'
  | 'pages-forever'

/**
 * The ways to be broken, by name. Every broken server introduces itself properly and lists its tools; what goes wrong goes
 * wrong after that, in calls of tools unless the fault says otherwise.
 */
export const brokenFaults: Readonly<Record<BrokenFault, Fault>> = {
  stalls: {
    about: 'takes a call and never answers it',
    call: () => {},
  },
  drops: {
    about: 'breaks the connection of the call; it takes new ones',
    call: (call) => call.drop(),
  },
  dies: {
    about: 'ends altogether in the middle of a call; nobody is there any more',
    call: (call) => call.die(),
  },
  'answers-twice': {
    about: 'answers a call, and then once more',
    call: (call) => {
      call.send(answerTo(call.request, call.request.id))
      call.send(answerTo(call.request, call.request.id))
      call.end()
    },
  },
  'answers-another-id': {
    about: 'answers a call under an id that nobody used',
    call: (call) => {
      call.send(answerTo(call.request, 'somebody-else'))
      call.end()
    },
  },
  'answers-mistyped-id': {
    about: 'answers under the same id as another type: "1" for 1, and 1 for "1"',
    call: (call) => {
      const { id } = call.request
      call.send(answerTo(call.request, typeof id === 'number' ? String(id) : Number(id) || 0))
      call.end()
    },
  },
  'answers-garbage': {
    about: 'answers with text that is no message',
    call: (call) => {
      call.send('Segmentation fault (core dumped)')
      call.end()
    },
  },
  floods: {
    about: 'answers with a gigabyte, in one message',
    call: (call) => call.flood(answerTo(call.request, call.request.id).replace(/done.*$/, '')),
  },
  'progresses-forever': {
    about: 'reports progress every 5 milliseconds, and never answers',
    call(call) {
      const progressToken = progressTokenOf(call.request.params)
      let progress = 0
      call.every(5, () => {
        progress += 1
        if (progressToken !== undefined) {
          call.send(notificationText('notifications/progress', { progressToken, progress }))
        }
      })
    },
  },
  'speaks-another-revision': {
    about:
      'answers as if another revision had been agreed on: it refuses the revision of a request that says everything itself, and asks for input in a result where there was a handshake',
    call(call) {
      const { id, params } = call.request
      if (isSelfContained(params)) {
        const data = { requested: namedRevision(params) ?? null, supported: ['1999-01-01'] }
        call.send(errorText(id, { code: -32022, message: 'Unsupported protocol version', data }))
      } else {
        const asked = {
          method: 'elicitation/create',
          params: { message: 'Sure?', requestedSchema: { type: 'object' } },
        }
        const result = { resultType: 'input_required', inputRequests: { sure: asked }, requestState: 'state' }
        call.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result)}}`)
      }
      call.end()
    },
  },
  'asks-undeclared': {
    about: 'asks the client for a sample, whether it declared that it can or not, and never answers',
    call(call) {
      const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 1 }
      call.send(requestText('undeclared', 'sampling/createMessage', params))
    },
  },
  'lies-about-capabilities': {
    about: 'declares prompts, resources and completions, and knows no method of them',
    serve: (sound) => ({
      ...forwarded(sound),
      describe: (principal) => {
        const said = sound.describe(principal)
        return { ...said, capabilities: { ...said.capabilities, ...claimed } }
      },
      handle: (call, context) =>
        /^(?:prompts|resources|completion)\//.test(call.method)
          ? Promise.reject(new Refusal('UnknownMethod'))
          : sound.handle(call, context),
    }),
  },
  'pages-forever': {
    about: 'has a next page of tools after every page of tools',
    serve(sound) {
      let page = 0
      return {
        ...forwarded(sound),
        async handle(call, context) {
          // Its cursors are not those of the server behind it.
          if (call.method !== 'tools/list') return sound.handle(call, context)
          const listed = await sound.handle({ ...call, params: { ...call.params, cursor: undefined } }, context)
          return { ...listed, nextCursor: `page-${++page}` }
        },
      }
    },
  },
}

const claimed: ServerCapabilities = { prompts: { listChanged: true }, resources: { subscribe: true }, completions: {} }

/** A served value that does what another does; a server has more to it, which is nobody's business here. */
function forwarded(sound: Served): Served {
  return {
    handle: (call, context) => sound.handle(call, context),
    describe: (principal) => sound.describe(principal),
    onChange: (listener) => sound.onChange(listener),
    headerPlan: (tool, principal) => sound.headerPlan(tool, principal),
  }
}
