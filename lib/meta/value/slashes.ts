/** Returns the text without the slashes at its end. A pattern for that would try every slash of a long run anew. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
