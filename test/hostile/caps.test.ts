// Each cap on one message: at the limit it is answered, one past it it is refused, on every transport.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultCaps } from '../../src/wire/caps.ts'
import { answersAlone, doors, spoken } from './doors.ts'
import type { Said } from './doors.ts'
import { call, modern, modernCall, target, text } from './requests.ts'

/** A message of exactly so much of what a cap counts, padded in the arguments of a call. */
interface Measure {
  readonly cap: 'maxMessageBytes' | 'maxDepth' | 'maxKeys' | 'maxValues'
  readonly limit: number
  message(amount: number): string
  readonly code: number
  readonly status: number
}

const padded = (args: object): string => text(modernCall(1, 'echo', args))

/** The members and elements of a value, at all depths. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + countValues(member), 0)
}

const measures: readonly Measure[] = [
  {
    cap: 'maxMessageBytes',
    limit: 2_000,
    message: (bytes) =>
      padded({ é: 'é'.repeat(20), pad: 'x'.repeat(bytes - Buffer.byteLength(padded({ é: 'é'.repeat(20), pad: '' }))) }),
    code: -32600,
    status: 413,
  },
  {
    cap: 'maxDepth',
    limit: 12,
    // The message, its params and its arguments are three.
    message: (depth) => padded({ deep: JSON.parse('['.repeat(depth - 3) + ']'.repeat(depth - 3)) }),
    code: -32600,
    status: 400,
  },
  {
    cap: 'maxKeys',
    limit: 40,
    message: (keys) => {
      const bare = countValues(JSON.parse(padded({})))
      return padded(Object.fromEntries(Array.from({ length: keys - bare }, (_, at) => [`k${at}`, 0])))
    },
    code: -32600,
    status: 400,
  },
  {
    cap: 'maxValues',
    limit: 60,
    message: (values) => {
      const bare = countValues(JSON.parse(padded({ list: [] })))
      // Elements that are arrays with one element each, and empty ones: commas alone do not tell them.
      const list = Array.from({ length: (values - bare) >> 1 }, () => [{}])
      return padded({ list: (values - bare) % 2 === 1 ? [...list, []] : list })
    },
    code: -32600,
    status: 400,
  },
]

/** Refused by its code; where HTTP says it, by its status too. */
function assertRefused({ status, message }: Said, code: number, expected: number, about: string): void {
  if (status !== undefined) assert.equal(status, expected, about)
  if (message !== undefined) assert.equal(message.error?.code, code, about)
  assert.ok(status !== undefined || message !== undefined, `${about}: silence`)
}

for (const [name, open] of Object.entries(doors)) {
  for (const { cap, limit, message, code, status } of measures) {
    test(`${name}: ${cap}: ${limit} pass, ${limit + 1} do not, and the door stays open`, async () => {
      const door = await open(target().server, { caps: { [cap]: limit } })
      try {
        if (!answersAlone(name)) await door.shake('2025-06-18')
        const atLimit = await door.say(spoken(name, message(limit)))
        assert.ok(atLimit.message?.result, JSON.stringify(atLimit))
        assertRefused(await door.say(spoken(name, message(limit + 1))), code, status, 'one past the limit')
        assert.ok((await door.say(spoken(name, padded({ still: 'here' })))).message?.result)
      } finally {
        await door.close()
      }
    })
  }

  test(`${name}: maxBatch: 3 messages pass, 4 do not, nor does an empty batch`, async () => {
    const door = await open(target().server, { caps: { maxBatch: 3 } })
    try {
      await door.shake('2025-03-26')
      const batch = (size: number): string => JSON.stringify(Array.from({ length: size }, (_, id) => call(id, 'echo')))
      assert.ok((await door.say(batch(3))).message?.result)
      assert.equal(door.heard.filter(({ result }) => result?.['content']).length, 3)
      assertRefused(await door.say(batch(4)), -32600, 400, 'four')
      assertRefused(await door.say(batch(0)), -32600, 400, 'none')
    } finally {
      await door.close()
    }
  })

  test(`${name}: maxInFlight: a third request of a session waits for nobody and is refused`, async () => {
    const { server, release } = target()
    const door = await open(server, { caps: { maxInFlight: 2 } })
    try {
      await door.shake('2025-06-18')
      const running = [door.say(text(call(1, 'wait'))), door.say(text(call(2, 'wait')))]
      await until(async () => {
        const { message, status } = await door.say(text(call(3, 'echo')))
        return message?.error !== undefined && (status === undefined || status === 503)
      })
      release()
      for (const { message } of await Promise.all(running)) assert.ok(message?.result)
      assert.ok((await door.say(text(call(4, 'echo')))).message?.result)
    } finally {
      await door.close()
    }
  })

  test(`${name}: maxPendingAsks: a third question at once is refused, and its call with it`, async () => {
    const door = await open(target().server, { caps: { maxPendingAsks: 2 } })
    try {
      await door.shake('2025-06-18', { elicitation: {} })
      void door.say(text(call(1, 'ask')))
      void door.say(text(call(2, 'ask')))
      await until(() => door.heard.filter(({ method }) => method === 'elicitation/create').length === 2)
      const { message } = await door.say(text(call(3, 'ask')))
      assert.ok(message?.error, JSON.stringify(message))
      assert.equal(door.heard.filter(({ method }) => method === 'elicitation/create').length, 2)
    } finally {
      await door.close()
    }
  })

  if (answersAlone(name))
    test(`${name}: maxSubscriptions: a listen for two resources is acknowledged, one for three refused`, async () => {
      const door = await open(target().server, { caps: { maxSubscriptions: 2 } })
      const listen = (id: number, count: number): string =>
        text(
          modern(id, 'subscriptions/listen', {
            notifications: { resourceSubscriptions: Array.from({ length: count }, (_, at) => `a:${at}`) },
          }),
        )
      try {
        void door.say(listen(1, 2))
        await until(() => door.heard.some(({ method }) => method === 'notifications/subscriptions/acknowledged'))
        assertRefused(await door.say(listen(2, 3)), -32602, 200, 'three')
      } finally {
        await door.close()
      }
    })

  test(`${name}: a key that stands twice, and bytes that are no UTF-8, are refused`, async () => {
    const door = await open(target().server)
    try {
      const good = padded({ a: 1 })
      const twice = [
        good.replace('"method"', '"id":2,"method"'),
        good.replace('"name"', '"name":"wait","name"'),
        good.replace('"a":1', '"a":1,"a":2'),
        good.replace('"a":1', '"a":1,"\\u0061":2'),
      ]
      for (const message of twice) assertRefused(await door.say(message), -32600, 400, message)
      const bytes = Buffer.from(good.replace('"a":1', '"a":"x"'))
      bytes[bytes.indexOf('"x"') + 1] = 0xff
      if (name !== 'memory') assertRefused(await door.say(bytes), -32700, 400, 'not UTF-8')
      // A socket lets go of whoever does not begin with JSON.
      if (name !== 'socket') assertRefused(await door.say(`\uFEFF${good}`), -32700, 400, 'a byte order mark')
    } finally {
      await door.close()
    }
  })
}

for (const name of ['memory', 'stdio', 'socket'] as const) {
  test(`${name}: maxListenersEach: a third listen on one connection is refused, and taken once another has ended`, async () => {
    const door = await doors[name]?.(target().server, { caps: { maxListenersEach: 2 } })
    assert.ok(door)
    const listen = (id: number): string =>
      text(modern(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
    const acknowledged = (): number =>
      door.heard.filter(({ method }) => method === 'notifications/subscriptions/acknowledged').length
    try {
      void door.say(listen(1))
      void door.say(listen(2))
      await until(() => acknowledged() === 2)
      assert.equal((await door.say(listen(3))).message?.error?.code, -32600)
      void door.say(text({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }), 1)
      await until(() => (void door.say(listen(4), 1), acknowledged() > 2))
    } finally {
      await door.close()
    }
  })
}

test('an anonymous server has room for what honest clients send', () => {
  assert.ok(defaultCaps.maxMessageBytes >= 1024 * 1024 && defaultCaps.maxDepth >= 64 && defaultCaps.maxInFlight >= 100)
})

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`waited in vain for ${holds.toString()}`)
}
