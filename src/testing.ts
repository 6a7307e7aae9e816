/** What a test of a server needs: clients of every revision in memory, and transcripts that can be read and replayed. */
export { playTranscript } from './testing/play.ts'
export type { Crossed, Played } from './testing/play.ts'
export { testClient } from './testing/client.ts'
export type { AnswerAsk, Heard, Response, TestClient, TestClientOptions } from './testing/client.ts'
