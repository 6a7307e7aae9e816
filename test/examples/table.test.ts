import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHeading, toLines } from '../../examples/demo/table.ts'
import type { Column } from '../../examples/demo/table.ts'

const columns: readonly Column[] = [
  ['who', 5],
  ['what', 8],
]

test('wraps between words, indents what goes on and cuts what is too long', () => {
  assert.equal(
    toLines(columns, [['Ada'], ['one two three', 'abcdefghijk']]),
    ['Ada    one two', '        three', '       abcdefgh', '        ijk'].join('\n'),
  )
})

test('puts headings over rules of the same width', () => {
  assert.equal(toHeading(columns), 'who    what\n─────  ────────')
})
