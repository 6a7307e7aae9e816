// The outside wire checks that are not asked yet, each with its reason.

const keys = 'idempotency keys and recorded results are not offered yet'
const tasks = 'tasks are not offered yet'

/** By the name of the check. */
export const wireExclusions: Readonly<Record<string, string>> = {
  'modern/one key, one effect: the second call gets the recorded result': keys,
  'modern/one key, other arguments: refused, not run': keys,
  'modern/one key, still running: refused, not run twice': keys,
  'legacy/2025-03-26 one id again after its answer: the recorded result, not a second run': keys,
  'legacy/2025-06-18 one id again after its answer: the recorded result, not a second run': keys,
  'legacy/2025-11-25 one id again after its answer: the recorded result, not a second run': keys,
  'legacy/tasks of 2025-11-25: call as a task, poll, collect': tasks,
}
