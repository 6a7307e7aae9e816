import { defaultCaps, type Caps } from '../../wire/caps.ts'

/**
 * What a client takes of a server unless told otherwise: as {@link defaultCaps}, but 32 MiB in one message, since results
 * carry images and files where requests do not.
 */
export const dialCaps: Caps = { ...defaultCaps, maxMessageBytes: 32 * 1024 * 1024 }

/** The caps for a link: the usual ones, but for those that are given. */
export function capsOf(given: Partial<Caps> | undefined): Caps {
  return given === undefined ? dialCaps : { ...dialCaps, ...given }
}
