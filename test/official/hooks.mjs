// Puts the watched encoder where the peer would have its own.
export function resolve(specifier, context, next) {
  const watched = specifier === './encoder.ts' && context.parentURL?.endsWith('/src/peer/create.ts')
  return next(watched ? new URL('./watched-encoder.ts', import.meta.url).href : specifier, context)
}
