/** Refusals as a peer sees them: the table of codes, and the ways into and out of it. */
export { neverSent, refusals } from './codec/refusals.ts'
export { dataOf, fromWire, messageOf, toWire } from './codec/refuse.ts'
export type { WireRefusal } from './codec/refuse.ts'
export type { RefusalProfile, WireCode } from './codec/codec.ts'
export { isRefusal, Refusal } from './model/refusal.ts'
export type { Ran, RefusalDetails, RefusalKind } from './model/refusal.ts'
