/** One layer around an operation. It calls `next` to go on inwards, with what it was given or with something else. */
export type Layer<Input, Context, Output> = (
  input: Input,
  context: Context,
  next: (input: Input, context: Context) => Promise<Output>,
) => Promise<Output>

/**
 * Puts `layers` around `core`, the first outermost. Done once; without layers the result is `core` itself. What a layer
 * throws at once rejects like what it throws later, so that the layers around it have one way to meet it.
 */
export function compose<Input, Context, Output>(
  layers: readonly Layer<Input, Context, Output>[],
  core: (input: Input, context: Context) => Promise<Output>,
): (input: Input, context: Context) => Promise<Output> {
  return layers.reduceRight<typeof core>((next, layer) => {
    return (input, context) => {
      try {
        return layer(input, context, next)
      } catch (thrown) {
        return Promise.reject(thrown)
      }
    }
  }, core)
}
