import type { Client } from './client.ts'
import type { Held } from './held.ts'
import { configuredClients, type RegistrationOptions } from './registration.ts'

/** The client of a token, with the secrets that only the configuration has; undefined where it is not there any more. */
export function clientOf({ client, issuer }: Held, options: RegistrationOptions): Client | undefined {
  if (client.origin !== 'configured') return client
  const given = configuredClients(options).find(({ id, issuer: of = issuer }) => id === client.id && of === issuer)
  return given && { ...given, origin: 'configured' }
}
