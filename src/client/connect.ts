import type { CallerOptions, CallingPorts, Codecs } from '../peer/calling.ts'
import { createCaller } from '../peer/create-caller.ts'
import type { Target } from '../peer/link.ts'
import { guarded, type Clock } from '../model/ports.ts'
import type { ClientCapabilities, Implementation } from '../model/nouns.ts'
import { createAnswering } from './answering.ts'
import { maxAsks } from './asked.ts'
import { createAttempt } from './attempt.ts'
import { createBreaker } from './breaker.ts'
import type { Client } from './client.ts'
import { createConnection, type Connection } from './connection.ts'
import { createClient } from './create-client.ts'
import { detect } from './detect.ts'
import { memoryListCache } from './list-cache.ts'
import { tasksExtension, type ClientOptions } from './options.ts'
import { createListeners } from './listeners.ts'
import { createLogLevels } from './log-levels.ts'
import { believed, forgiving, memoryVerdicts } from './verdicts.ts'

/** What a client takes from outside itself. */
export interface ClientPorts extends CallingPorts {
  readonly clock: Clock
}

/** Unless told otherwise, all clients of this process know what one of them found out. */
const verdicts = memoryVerdicts()
const cache = memoryListCache()

const self: Implementation = { name: 'dragoman', version: '0.1.0' }
const defaultConnectTimeoutMs = 30_000
const defaultSilenceMs = 2_000

/**
 * Connects to a target, whatever the age of what is behind it.
 * @throws CallFailed, Refusal; TypeError for revisions that are not known
 */
export async function connectTo<S>(target: Target, options: ClientOptions, ports: ClientPorts): Promise<Client<S>> {
  const logger = guarded(options.logger)
  const codecs = pinned(ports.codecs, options)
  const answering = createAnswering(options, logger)
  const capabilities = capabilitiesOf(answering.capabilities, options)
  const listeners = createListeners(logger)
  const known = options.verdicts ? forgiving(options.verdicts, logger) : verdicts

  const levels = createLogLevels(options.logLevel, logger)
  const callerOptions: Omit<CallerOptions, 'hears' | 'expired' | 'closed'> = {
    info: options.info ?? self,
    capabilities,
    logLevel: () => levels.level,
    answer: answering.answer,
    maxAsks,
    notified: listeners.tell,
    noise: (from, text) => logger.debug('the server said what is no message', { from, text }),
  }

  const attempt = createAttempt(options.signal)
  const connection: Connection = createConnection({
    async connect(making) {
      const { caller, verdict } = await detect({
        target,
        codecs,
        silenceMs: options.silenceMs ?? defaultSilenceMs,
        timeoutMs: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
        verdict: making.anew ? undefined : believed(await known.get(target.key), ports.clock(), options.verdictTtlMs),
        now: ports.clock,
        caller: (link) => {
          attempt.check()
          making.check()
          const made = createCaller(link, {
            ...callerOptions,
            hears: (hears) => listeners.hears(made, hears),
            // The session takes nothing more, but what it took it may yet answer.
            expired: () => connection.retire(made),
            closed: () => connection.leave(made),
          })
          attempt.began(made)
          making.began(made)
          return made
        },
      })
      // What was agreed within bounds of one client's own is no word on age, unless it is that no handshake is needed.
      if (codecs === ports.codecs || verdict.lifecycle === 'request') await known.set(target.key, verdict)
      await levels.announce(caller)
      return caller
    },
    renewed: () => listeners.renewed(),
    left: listeners.left,
  })

  const { dialect } = await attempt.done(connection)
  return createClient<S>({
    target,
    options,
    capabilities,
    connection,
    dialect,
    levels,
    listeners,
    answer: answering.answer,
    visit: answering.visit,
    breaker: createBreaker(options.breaker ?? {}, ports.clock),
    cache: options.cache ?? cache,
    clock: ports.clock,
    logger,
  })
}

function capabilitiesOf(
  answered: ClientCapabilities,
  { capabilities, extensions, tasks }: ClientOptions,
): ClientCapabilities {
  const all = { ...capabilities?.extensions, ...extensions, ...(tasks === true && { [tasksExtension]: {} }) }
  return { ...capabilities, ...answered, ...(Object.keys(all).length > 0 && { extensions: all }) }
}

function pinned(codecs: Codecs, { revision, revisions }: ClientOptions): Codecs {
  if (revision !== undefined) return codecs.pin([revision])
  if (revisions === undefined) return codecs
  if (Array.isArray(revisions)) return codecs.pin(revisions)
  const { min = '', max } = revisions as { readonly min?: string; readonly max?: string }
  return codecs.pin(codecs.supported.filter((one) => one >= min && (max === undefined || one <= max)))
}
