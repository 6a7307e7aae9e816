import type { Codec } from '../codec/codec.ts'
import { isCallFailed } from '../model/failure.ts'
import { isRefusal, type Refusal } from '../model/refusal.ts'

/** HTTP statuses that a server gives to what is not of its age: it knows no such request, or no such session. */
const ofAge: ReadonlySet<number> = new Set([400, 404, 405])

/** Codes that only servers without a handshake use, and to which they give a status of their own. */
const modern: ReadonlySet<number> = new Set([-32020, -32021, -32022])

/** What servers without a handshake say with such a status of single requests (Streamable HTTP, error codes). */
const ordinary: ReadonlySet<number> = new Set([-32601, -32602, ...modern])

/** What servers with sessions say, since they have no code of the specification for it, to what comes without one. */
const withoutSession: ReadonlySet<number> = new Set([-32000, -32001])

const doubtful = new WeakSet<Refusal>()

/** Remembers of a refusal whether it is one that servers of the age of `codec` do not make. Returns it. */
export function judged(refusal: Refusal, codec: Codec | undefined, status: number): Refusal {
  const { code = 0 } = refusal
  const isStrange =
    codec?.lifecycle === 'request'
      ? ofAge.has(status) && !ordinary.has(code)
      : codec !== undefined && (ofAge.has(status) || modern.has(code))
  if (isStrange) doubtful.add(refusal)
  return refusal
}

/** Whether a failure may mean that another server, of another age, took the place of the one that was agreed with. */
export function doubtsAge(error: unknown): boolean {
  if (isRefusal(error)) return doubtful.has(error)
  return isCallFailed(error) && error.kind === 'HttpStatus' && ofAge.has(error.status ?? 0)
}

/** Whether what failed so did not run, once it is known that the server is of another age. */
export function isOfOtherAge(error: unknown): boolean {
  if (!doubtsAge(error)) return false
  return isRefusal(error) ? error.ran === 'no' || withoutSession.has(error.code ?? 0) : true
}
