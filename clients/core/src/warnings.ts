/** Returns the texts of `Warning` headers with code 299: `299 - "text", 299 - "text"` (RFC 9111). Others are ignored, as kubectl does. */
export function warningsIn(headers: readonly string[]): string[] {
  return headers.flatMap((header) =>
    [...header.matchAll(/(?:^|,\s*)299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')),
  )
}
