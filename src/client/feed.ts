import type { Task } from '../model/nouns.ts'

/** Something that changed on a server. */
export type ServerChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
  | { readonly kind: 'task'; readonly task: Task }
  /** The way to the server, or the stream of its changes, was made anew, so that some may have been missed: look for yourself. */
  | { readonly kind: 'resumed' }

/** A queue of changes with one reader. Of changes of one thing that wait only the latest does, so it never grows far. */
export interface Feed {
  push(change: ServerChange): void
  /** Ends the feed once what waits was read; with an error it rejects then. */
  end(error?: Error): void
  next(): Promise<IteratorResult<ServerChange, undefined>>
}

const done: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Makes a feed. */
export function createFeed(): Feed {
  const waiting = new Map<string, ServerChange>()
  let wake = (): void => {}
  let ended: { readonly error: Error | undefined } | undefined
  return {
    push(change) {
      if (ended) return
      waiting.set(keyOf(change), change)
      wake()
    },
    end(error) {
      ended ??= { error }
      wake()
    },
    async next() {
      for (;;) {
        const [first] = waiting
        if (first) {
          waiting.delete(first[0])
          return { done: false, value: first[1] }
        }
        if (ended?.error !== undefined) throw ended.error
        if (ended) return done
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

function keyOf(change: ServerChange): string {
  if (change.kind === 'resource') return `resource ${change.uri}`
  return change.kind === 'task' ? `task ${change.task.taskId}` : change.kind
}
