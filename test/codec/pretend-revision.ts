import { extend } from '../../src/codec/define.ts'
import { any, must, one, text } from '../../src/codec/fields.ts'
import { revision20260728 } from '../../src/codec/2026-07-28.ts'
import type { Revision } from '../../src/codec/define.ts'

/** A revision that nobody published: a field, a kind of content, a method and two features more than the newest. */
export const pretendRevision: Revision = extend(revision20260728, {
  revision: '2027-01-15',
  features: { gains: { revision: ['tool.price'], server: ['estimates'] } },
  requests: {
    gains: { 'tools/estimate': { params: 'EstimateParams', result: 'EstimateResult', needs: 'estimates' } },
  },
  nouns: {
    gains: {
      Tool: { price: one('Price') },
      Price: { amount: any },
      ServerCapabilities: { estimates: any },
      EstimateParams: { name: must(text), _meta: any },
      EstimateResult: { price: one('Price'), _meta: any },
      VideoContent: { type: any, data: any, mimeType: any, _meta: any },
    },
  },
  unions: { gains: { Content: { video: 'VideoContent' } } },
})
