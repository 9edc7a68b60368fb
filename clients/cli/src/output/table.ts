/** Lays out tables and lists of facts for people. */
import type { Io } from '../io/io.ts'
import { plain } from './plain.ts'

/** Returns rows below a header. If they are wider than the terminal, the widest columns are cut, but never the first: names are copied. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const cells = [header, ...rows.map((row) => row.map(plain))]
  const widths = header.map((_, index) => Math.max(...cells.map((row) => lengthOf(row[index] ?? ''))))
  const excess = () => widths.reduce((sum, width) => sum + width + 2, -2) - columns
  while (excess() > 0) {
    const widest = widths.indexOf(Math.max(...widths.slice(1)), 1)
    const next = Math.max((widths[widest] ?? 0) - excess(), SHORTEST)
    if (next === widths[widest]) break
    widths[widest] = next
  }
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, index) => fit(cell, widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Returns the table for standard output. Only a terminal limits its width. */
export const outputTable = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
  io: Pick<Io, 'isTerminal' | 'columns'>,
): string => table(header, rows, io.isTerminal.out ? io.columns : Number.POSITIVE_INFINITY)

/** Returns lines of a name and a value, aligned. Facts without a value are left out. */
export function facts(pairs: readonly (readonly [string, string | undefined])[], indent = ''): string {
  const known = pairs.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(0, ...known.map(([name]) => name.length)) + 2
  return known.map(([name, value]) => `${indent}${name.padEnd(width)}${plain(value ?? '')}\n`).join('')
}

/** A column never gets narrower to fit the terminal. */
const SHORTEST = 12

const lengthOf = (text: string): number => [...text].length

function fit(text: string, width: number): string {
  const length = lengthOf(text)
  return length > width ? `${[...text].slice(0, width - 1).join('')}…` : text + ' '.repeat(width - length)
}
