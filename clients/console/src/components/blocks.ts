/** Decides which rows of a long table are drawn: blocks of some rows, near what is visible. */

/** So many rows are drawn or not drawn together. */
export const BLOCK = 8

/** Returns how many rows a block has, in a table of so many. */
export const rowsIn = (block: number, rows: number): number => Math.max(0, Math.min(BLOCK, rows - block * BLOCK))

/** Returns the blocks between two heights, in pixels below the first row. `heightOf` has the height of a block. */
export function blocksBetween(
  top: number,
  bottom: number,
  rows: number,
  heightOf: (block: number) => number,
): number[] {
  const between: number[] = []
  for (let block = 0, y = 0; block * BLOCK < rows && y < bottom; block++) {
    y += heightOf(block)
    if (y > top) between.push(block)
  }
  return between
}

/** Returns what is drawn, in order: the blocks near what is visible, and those around the one with the focus, where the keyboard goes on. */
export function drawnBlocks(near: readonly number[], focused: number | undefined, rows: number): number[] {
  const last = Math.ceil(rows / BLOCK) - 1
  const around = focused === undefined ? [] : [focused - 1, focused, focused + 1].filter((one) => one <= last)
  // The list may have become shorter since somebody looked.
  const wanted = new Set([...near.map((one) => Math.min(one, last)), ...around])
  return [...wanted].filter((one) => one >= 0).sort((a, b) => a - b)
}
