import { plainForm, refusesBeyondPlainForm } from './elicitation.ts'
import { extend, lazy } from './define.ts'
import { anything, completionContext, must, object, one, quiet, text } from './fields.ts'
import { objectOutputSchema, toolResult } from './tool-result.ts'
import { revision20250326 } from './2025-03-26.ts'
import type { Revision } from './define.ts'
import type { Fields } from './fields.ts'

const titled: Fields = { title: anything }
const meta: Fields = { _meta: anything }

/** What 2025-06-18 changed: elicitation, structured content, resource links, titles, `_meta` on nouns; no batches. */
export const revision20250618: () => Revision = lazy(() =>
  extend(revision20250326(), {
    revision: '2025-06-18',
    batch: false,
    http: { versionHeader: 'session' },
    features: {
      gains: {
        revision: [
          'meta.keys',
          'meta.nouns',
          'title',
          'tool.title',
          'tool.outputSchema',
          'structuredContent',
          'content.resourceLink',
          'content.lastModified',
          'completion.context',
        ],
        client: ['elicitation'],
        http: ['http.versionHeader', 'authorization.resourceMetadata'],
        with: { 'elicitation.form': 'elicitation' },
      },
      drops: ['batch'],
    },
    asks: {
      gains: {
        'elicitation/create': {
          params: 'ElicitParams',
          result: 'ElicitResult',
          needs: 'elicitation',
          refuses: refusesBeyondPlainForm,
        },
      },
    },
    nouns: {
      gains: {
        ClientCapabilities: { elicitation: one('ElicitationCapability') },
        ElicitationCapability: {},
        ElicitParams: { message: must(text), requestedSchema: must(object), ...meta },
        ElicitResult: { action: anything, content: anything, ...meta },
        Implementation: titled,
        Tool: { ...titled, outputSchema: anything, ...meta },
        Resource: { ...titled, ...meta },
        ResourceTemplate: { ...titled, ...meta },
        ResourceContents: meta,
        ResourceLink: {
          type: anything,
          uri: anything,
          name: anything,
          ...titled,
          description: anything,
          mimeType: anything,
          size: anything,
          annotations: one('Annotations'),
          ...meta,
        },
        Prompt: { ...titled, ...meta },
        PromptArgument: titled,
        Reference: { title: quiet(anything) },
        CallToolResult: { structuredContent: anything },
        CompleteParams: { context: completionContext },
        Annotations: { lastModified: anything },
        TextContent: meta,
        ImageContent: meta,
        AudioContent: meta,
        EmbeddedResource: meta,
        Root: meta,
      },
    },
    unions: { gains: { Content: { resource_link: 'ResourceLink' } } },
    encoders: {
      gains: { CallToolResult: toolResult('object'), Tool: objectOutputSchema, ElicitParams: plainForm },
    },
  }),
)
