/** Stands for a value that stays: milliseconds since the epoch that no clock will show, and that any database can hold. */
export const never = 9_000_000_000_000_000

/** When to let go of a value, as whole milliseconds since the epoch. */
export function toExpiry(expiresAt: number | undefined): number {
  return expiresAt === undefined ? never : Math.min(Math.ceil(expiresAt), never)
}
