/**
 * Returns a function that tells each warning of a read once. Warnings about the key of the session are on every answer, with a
 * time that changes, so texts that differ in numbers and durations only count as one. Warnings about a change are always told.
 */
export function freshWarnings(tell: (text: string) => void): (texts: readonly string[], isRead: boolean) => void {
  const told = new Set<string>()
  return (texts, isRead) => {
    for (const text of texts) {
      const form = text.replace(/\d[\dsmhdy]*/g, '0')
      if (told.has(form)) continue
      if (isRead) told.add(form)
      tell(text)
    }
  }
}
