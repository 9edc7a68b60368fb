/** Names federated identity credentials in warnings. */

/** A warning names no more. */
const MOST = 10

/** Returns `2 federated identity credentials (a, b)`. */
export function listedNames(names: readonly string[]): string {
  const noun = names.length === 1 ? 'federated identity credential' : 'federated identity credentials'
  const more = names.length > MOST ? [`and ${names.length - MOST} more`] : []
  return `${names.length} ${noun} (${[...names.slice(0, MOST), ...more].join(', ')})`
}
