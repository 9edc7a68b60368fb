/** Finds the known word that a mistyped one most likely means. */

/** Returns the candidate with the fewest edits, if they are few for its length; undefined otherwise. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const lower = word.toLowerCase().slice(0, 64)
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of candidates) {
    const begins = lower.length >= 2 && candidate.startsWith(lower)
    const edits = begins ? 1 : editsBetween(lower, candidate)
    if (edits <= Math.max(1, Math.floor(candidate.length / 3)) && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, edits }
    }
  }
  return best?.candidate
}

/** Returns the number of insertions, deletions, replacements and swaps of neighbours between two words. */
function editsBetween(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let edits = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, (before[j - 2] ?? 0) + 1)
      next.push(edits)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
