import type { Method } from '../core.ts'

/** `logging/setLevel`: from now on, for this session. */
export const setLogLevel: Method<'logging/setLevel'> = async (params, context, core) => {
  core.deprecated('logging')
  await context.session?.setLogLevel(params.level)
  return {}
}
