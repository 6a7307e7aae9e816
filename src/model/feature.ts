/** Every feature that some revision defines; which revision has which is told by the codecs. */
export const features = [] as const

/** The name of a feature. Features of extensions are `extensions.` and the identifier. */
export type Feature = string
