import { extend } from '../../src/codec/define.ts'
import { anything, must, one, text } from '../../src/codec/fields.ts'
import { revision20260728 } from '../../src/codec/2026-07-28.ts'
import type { Revision } from '../../src/codec/define.ts'

/** A revision that nobody published: a field, a kind of content, a method and two features more than the newest. */
export const pretendRevision: Revision = extend(revision20260728(), {
  revision: '2027-01-15',
  features: { gains: { revision: ['tool.price'], server: ['estimates'] } },
  requests: {
    gains: { 'tools/estimate': { params: 'EstimateParams', result: 'EstimateResult', needs: 'estimates' } },
  },
  nouns: {
    gains: {
      Tool: { price: one('Price') },
      Price: { amount: anything },
      ServerCapabilities: { estimates: anything },
      EstimateParams: { name: must(text), _meta: anything },
      EstimateResult: { price: one('Price'), _meta: anything },
      VideoContent: { type: anything, data: anything, mimeType: anything, _meta: anything },
    },
  },
  unions: { gains: { Content: { video: 'VideoContent' } } },
})
