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
  let y = 0
  for (let block = 0; block * BLOCK < rows && y < bottom; block++) {
    y += heightOf(block)
    if (y > top) between.push(block)
  }
  return between
}

/** Returns what is drawn in their order: the blocks near what is visible, and those around the one with the focus, where the keyboard goes on. */
export function drawnBlocks(near: readonly number[], focused: number | undefined, rows: number): number[] {
  const last = Math.ceil(rows / BLOCK) - 1
  const around = focused === undefined ? [] : [focused - 1, focused, focused + 1]
  // The list may have become shorter since somebody looked.
  const wanted = [...near.map((one) => Math.min(one, last)), ...around.filter((one) => one <= last)]
  return [...new Set(wanted)].filter((one) => one >= 0).sort((a, b) => a - b)
}
