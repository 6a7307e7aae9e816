import { writeSync } from 'node:fs'
import type { Codec } from '../../src/codec/codec.ts'
import { isObject } from '../../src/model/json.ts'
import { createEncoder as createPlain, type Encoder } from '../../src/peer/encoder.ts'
import type { Answer, PeerOptions } from '../../src/peer/peer.ts'
import { officialSchema } from '../codec/official-schema.ts'
import { messageFaults } from '../golden/official.ts'
import { isExempt } from './exempt.ts'

const faults = new Set<string>()

/** Answers and notifications as the peer's own encoder has them, each of them judged on its way out. */
export function createEncoder(options: PeerOptions): Encoder {
  const plain = createPlain(options)
  const judged = (answer: Answer, method: string | undefined, codec: Codec): Answer => {
    judge(JSON.parse(answer.text), method, codec)
    return answer
  }
  return {
    result: (id, method, result, codec, subscription) =>
      judged(plain.result(id, method, result, codec, subscription), method, codec),
    introduction: (id, description, codec) =>
      judged(
        plain.introduction(id, description, codec),
        codec.lifecycle === 'session' ? 'initialize' : 'server/discover',
        codec,
      ),
    failure: (id, method, thrown, codec) => judged(plain.failure(id, method, thrown, codec), method, codec),
    notification(notification, codec) {
      const params = plain.notification(notification, codec)
      if (params) judge({ jsonrpc: '2.0', method: notification.method, params }, undefined, codec)
      return params
    },
  }
}

function judge(message: unknown, method: string | undefined, codec: Codec): void {
  const schema = officialSchema(codec.revision)
  if (!schema || !isObject(message) || isExempt(message, method)) return
  for (const fault of messageFaults(message, method, schema))
    faults.add(`${codec.revision}: ${fault} in ${JSON.stringify(message).slice(0, 500)}`)
}

process.on('exit', () => {
  if (faults.size === 0) return
  writeSync(2, `Unlike the official schema:\n  ${[...faults].join('\n  ')}\n`)
  process.exitCode = 1
})
