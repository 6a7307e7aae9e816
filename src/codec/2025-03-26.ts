import { extend, lazy } from './define.ts'
import { anything, one } from './fields.ts'
import { revision20241105 } from './2024-11-05.ts'
import type { Revision } from './define.ts'

/** What 2025-03-26 changed: Streamable HTTP, batches, audio, tool annotations, authorization. */
export const revision20250326: () => Revision = lazy(() =>
  extend(revision20241105(), {
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
        ToolAnnotations: {
          title: anything,
          readOnlyHint: anything,
          destructiveHint: anything,
          idempotentHint: anything,
          openWorldHint: anything,
        },
        AudioContent: { type: anything, data: anything, mimeType: anything, annotations: one('Annotations') },
        ProgressParams: { message: anything },
        ServerCapabilities: { completions: anything },
      },
    },
    unions: { gains: { Content: { audio: 'AudioContent' }, SamplingContent: { audio: 'AudioContent' } } },
  }),
)
