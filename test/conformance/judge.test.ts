import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowedSkips, beyondRevision } from '../../conformance/exceptions.ts'
import { differences, judge, type Check } from '../../conformance/judge.ts'

const run = (scenario: string, ...statuses: Check['status'][]) =>
  new Map([[scenario, statuses.map((status, index) => ({ id: `check-${index}`, status }))]])

test('a success is counted, and nothing else passes as one', () => {
  assert.deepEqual(judge(run('tools-list', 'SUCCESS')), { scenarios: 1, successes: ['tools-list check-0'], faults: [] })
  for (const status of ['FAILURE', 'WARNING', 'SKIPPED', 'INFO'] as const)
    assert.deepEqual(judge(run('tools-list', 'SUCCESS', status)).faults, [`tools-list check-1: ${status} `], status)
})

test('a scenario that checked nothing is a fault', () => {
  assert.deepEqual(judge(run('tools-list')).faults, ['tools-list: no check ran'])
})

test('what lies beyond a pinned revision must indeed fail there, and is judged everywhere else', () => {
  const beyond = run('tools-call-elicitation', 'FAILURE')
  assert.deepEqual(judge(beyond, '2025-03-26').faults, [])
  assert.equal(judge(beyond).faults.length, 1)
  assert.equal(judge(beyond, '2025-06-18').faults.length, 1)
  assert.equal(judge(run('tools-call-elicitation', 'SUCCESS'), '2025-03-26').faults.length, 1)
})

test('a success that went missing and one that is new are both told', () => {
  assert.deepEqual(differences(['a 1', 'b 1'], ['b 1', 'c 1']), [
    'a 1: was a success once, now it is none',
    'c 1: is not on the list yet (--update)',
  ])
  assert.equal(differences(undefined, []).length, 1)
})

test('every exception has a reason', () => {
  for (const reasons of [allowedSkips, ...Object.values(beyondRevision)])
    for (const [name, reason] of Object.entries(reasons)) assert.ok(reason.length > 10, name)
})
