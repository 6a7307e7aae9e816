/** What is run again after a visit: one request, or the call whose task was refused. */
export type Run = 'request' | 'task'

/**
 * The key of one run among those that one key stands for: of the first, the key itself; of a later one, a digest (43
 * characters), so that it is the same whenever that key is used again, never one that a user could mean, and never longer
 * than servers take.
 */
export async function runKey(key: string, run: Run, round: number): Promise<string> {
  if (round === 0) return key
  const text = JSON.stringify(['dragoman visit', key, run, round])
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('base64url')
}
