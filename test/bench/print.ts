/** Prints the machine, its load and the tables of a benchmark. */
import { cpus, loadavg, totalmem } from 'node:os'

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

export interface Cell {
  text: string
  /** Numbers are right-aligned. */
  number: boolean
}

/** Formats three significant digits, or whole numbers from 100. */
function figure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}

const cell = (value: string | number): Cell =>
  typeof value === 'number' ? { text: figure(value), number: true } : { text: value, number: false }

/** Prints a Markdown table. */
export function table(title: string, header: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const cells = rows.map((row) => row.map(cell))
  const widths = header.map((name, column) =>
    Math.max(name.length, 3, ...cells.map((row) => row[column]?.text.length ?? 0)),
  )
  const right = header.map((_, column) => cells.some((row) => row[column]?.number))
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((text, i) => (right[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0))).join(' | ')} |`
  say(`\n${title} (load ${load()})\n`)
  say(line(header))
  say(`|${widths.map((width, i) => (right[i] ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`)
  for (const row of cells) say(line(row.map(({ text }) => text)))
}

const load = (): string =>
  loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')

export function machine(): void {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  say(`${new Date().toISOString().slice(0, 16)}Z, ${cpus().length} × ${cpu?.model.trim()}, ${memory} GiB`)
  say(`Node.js ${process.version}, ${process.platform}/${process.arch}, load ${load()}`)
}
