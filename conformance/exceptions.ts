// What the official suite asks and is not asked of this package, each with its reason. Anything else that is not a success fails.

const trafficOfClients = 'scenarios for clients record their traffic as INFO'

/** Checks that may answer SKIPPED or INFO, by `scenario check`; `*` stands for every check or scenario. */
export const allowedSkips: Readonly<Record<string, string>> = {
  '* incoming-request': trafficOfClients,
  '* outgoing-response': trafficOfClients,
  '* incoming-auth-request': trafficOfClients,
  '* outgoing-auth-response': trafficOfClients,
  '* outgoing-sse-event': trafficOfClients,
  '* outgoing-stream-close': trafficOfClients,
  'initialize server-info': trafficOfClients,
  'auth/scope-retry-limit scope-retry-auth-attempt': trafficOfClients,
  'http-standard-headers sep-2243-client-includes-standard-headers':
    'two of its rows ask for messages that no client sends on this revision',
  'auth/offline-access-scope sep-2207-client-metadata-grant-types':
    'the client is known by its metadata document there, which the scenario cannot fetch',
  'tasks-status-notifications *': 'the suite itself has not caught up with the channel of these notifications',
  'server-sse-polling *': 'the scenario records its traffic as INFO',
  'server-sse-multiple-streams server-sse-streams-functional':
    'tools/list is answered as JSON, which a server may choose; INFO says so',
}

/**
 * What a server pinned to an old revision cannot pass, since the suite has no scenarios for that revision and is run with
 * those of later ones. By revision, then scenario. An entry that passes after all is a fault too.
 */
export const beyondRevision: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2024-11-05': {
    'server-session-lifecycle': 'ending a session by DELETE came with 2025-03-26',
    'tools-call-audio': 'audio content came with 2025-03-26; before, it is sent as text',
    'tools-call-elicitation': 'elicitation came with 2025-06-18',
    'elicitation-sep1034-defaults': 'elicitation came with 2025-06-18',
    'elicitation-sep1330-enums': 'elicitation came with 2025-06-18',
  },
  '2025-03-26': {
    'tools-call-elicitation': 'elicitation came with 2025-06-18',
    'elicitation-sep1034-defaults': 'elicitation came with 2025-06-18',
    'elicitation-sep1330-enums': 'elicitation came with 2025-06-18',
  },
  '2025-06-18': {
    'elicitation-sep1034-defaults': 'defaults of fields other than booleans came with 2025-11-25',
    'elicitation-sep1330-enums': 'lists of choices came with 2025-11-25',
  },
}
