/** Decides which rows of a long table are drawn: those near what is visible. Rows count from 0 here. */

/** So many rows more are drawn in a frame: more would take too long. */
const MORE = 4

/** The heights of rows, in pixels. */
export interface Heights {
  usual: number
  /** Rows that have others. On a phone these are many. */
  others: ReadonlyMap<number, number>
}

/** Returns the height from one row to another, which is not part of it. */
export function heightBetween(from: number, to: number, { usual, others }: Heights): number {
  let height = usual * (to - from)
  for (const [row, other] of others) if (row >= from && row < to) height += other - usual
  return height
}

/** Returns the rows of so many that are between two heights, in pixels below the first row. */
export function rowsBetween(top: number, bottom: number, count: number, heights: Heights): number[] {
  let first = 0
  for (let end = count; first < end; ) {
    const middle = (first + end) >> 1
    if (heightBetween(0, middle + 1, heights) > top) end = middle
    else first = middle + 1
  }
  const between: number[] = []
  for (let y = heightBetween(0, first, heights), row = first; row < count && y < bottom; row++) {
    between.push(row)
    y += heightBetween(row, row + 1, heights)
  }
  return between
}

/** Returns what is drawn next of the rows that are near: what is visible and, once all of that is drawn, a few more than before. */
export function nextRows(near: readonly number[], visible: readonly number[], before: readonly number[]): number[] {
  const missing = near.filter((row) => !before.includes(row))
  const isNeeded = missing.some((row) => visible.includes(row))
  const below = missing.filter((row) => row > (visible.at(-1) ?? 0))
  const more = isNeeded ? visible : below.length > 0 ? below.slice(0, MORE) : missing.slice(-MORE)
  return near.filter((row) => before.includes(row) || more.includes(row))
}

/** Returns what is drawn, in order: these rows, and those around the one with the focus, where the keyboard goes on. */
export function drawnRows(rows: readonly number[], focused: number | undefined, count: number): number[] {
  const around = focused === undefined ? [] : [focused - 1, focused, focused + 1].filter((row) => row < count)
  // The list may have become shorter since somebody looked.
  const wanted = new Set([...rows.map((row) => Math.min(row, count - 1)), ...around])
  return [...wanted].filter((row) => row >= 0).sort((a, b) => a - b)
}
