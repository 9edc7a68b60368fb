/** Removes trailing slashes. A regular expression would take quadratic time for a long run of slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
