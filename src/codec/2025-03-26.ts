import { extend } from './define.ts'
import { any, one } from './fields.ts'
import { revision20241105 } from './2024-11-05.ts'
import type { Revision } from './define.ts'

/** What 2025-03-26 changed: Streamable HTTP, batches, audio, tool annotations, authorization. */
export const revision20250326: Revision = extend(revision20241105, {
  revision: '2025-03-26',
  batch: true,
  http: { sessions: true, resumable: true },
  features: {
    gains: {
      revision: ['batch', 'progress.message', 'tool.annotations', 'content.audio'],
      server: ['completions'],
      http: ['http', 'http.sessions', 'http.resumable', 'authorization'],
    },
  },
  requests: {
    gains: { 'completion/complete': { params: 'CompleteParams', result: 'CompleteResult', needs: 'completions' } },
  },
  nouns: {
    gains: {
      Tool: { annotations: one('ToolAnnotations') },
      ToolAnnotations: { title: any, readOnlyHint: any, destructiveHint: any, idempotentHint: any, openWorldHint: any },
      AudioContent: { type: any, data: any, mimeType: any, annotations: one('Annotations') },
      ProgressParams: { message: any },
      ServerCapabilities: { completions: any },
    },
  },
  unions: { gains: { Content: { audio: 'AudioContent' }, SamplingContent: { audio: 'AudioContent' } } },
})
