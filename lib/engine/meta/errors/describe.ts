/** Returns the class and message of an error and of its causes, for the log. */
export function describeError(error: unknown): string {
  const parts: string[] = []
  for (let one = error, depth = 0; one !== undefined && depth < 5; depth++) {
    if (!(one instanceof Error)) {
      parts.push(typeof one)
      break
    }
    parts.push(`${one.name}: ${one.message}`)
    one = one.cause
  }
  return parts.join(' <- ')
}
