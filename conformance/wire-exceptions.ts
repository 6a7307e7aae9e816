// The outside wire checks that are not asked, each with its reason.

/** By the name of the check. */
export const wireExclusions: Readonly<Record<string, string>> = {}
