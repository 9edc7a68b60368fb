/** Parses tables that kubectl prints into one record per line, by the columns of the header. */
export function rows(printed: string): Record<string, string>[] {
  const [header = '', ...lines] = printed.trimEnd().split('\n')
  const columns = [...header.matchAll(/\S+(?: \S+)*/g)].map((match) => ({ name: match[0], start: match.index }))
  return lines.map((line) =>
    Object.fromEntries(
      columns.map(({ name, start }, index) => [name, line.slice(start, columns[index + 1]?.start).trim()]),
    ),
  )
}
