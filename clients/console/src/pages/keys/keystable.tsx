import type { FunctionComponent, RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { isActive } from '../../api/keyfacts.ts'
import { useNear } from '../../components/hooks/usenear.ts'
import type { Row } from '../../keylist/selection.ts'
import { type ColumnName, chosen, columns, type Sort } from '../../keylist/sorting.ts'
import { Expires, Made, May, Name, Owner, State, Used } from './cells.tsx'
import { type Selection, SelectionContext, SelectRow } from './selecting.tsx'

export interface KeysTableProps {
  rows: readonly Row[]
  sort: Sort
  onSort(sort: Sort): void
  selection: Selection
}

const CELLS: Readonly<Record<ColumnName, FunctionComponent<{ row: Row }>>> = {
  name: Name,
  owner: Owner,
  scope: May,
  used: Used,
  made: Made,
  expires: Expires,
  state: State,
}

const TableRow = ({ row, at }: { row: Row; at: number }) => (
  <tr class={isActive(row.key) ? 'row' : 'row ended'} aria-rowindex={at + FIRST_ROW}>
    <td class="select">
      <SelectRow row={row} />
    </td>
    {[...columns.keys()].map((name) => {
      const Cell = CELLS[name]
      return (
        <td class={name} key={name}>
          <Cell row={row} />
        </td>
      )
    })}
  </tr>
)

/** So many rows are drawn or not drawn together. */
const BLOCK = 40
/** The height of a row that was never drawn, in pixels. */
const ROW_HEIGHT = 46

/** Some rows of the table. Far from what is visible, an empty row takes their place. */
function Block({ rows, from }: { rows: readonly Row[]; from: number }) {
  const { ref, isNear, height = rows.length * ROW_HEIGHT } = useNear<HTMLTableSectionElement>(from === 0)
  return (
    <tbody ref={ref}>
      {isNear ? (
        rows.map((row, index) => <TableRow row={row} at={from + index} key={row.key.metadata.uid} />)
      ) : (
        <tr>
          <td class="far" height={height} colSpan={columns.size + 1} />
        </tr>
      )}
    </tbody>
  )
}

/** The keys as a table whose headers sort it, which keeps the focus in it. In a narrow window each row has two lines. */
export function KeysTable({ rows, sort, onSort, selection }: KeysTableProps) {
  const box = useRef<HTMLDivElement>(null)
  const follow = useRowFocus(box, rows)
  // The same elements are not drawn again, such as when somebody selects a key.
  const blocks = useMemo(() => {
    const starts = Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, index) => index * BLOCK)
    return starts.map((from) => <Block rows={rows.slice(from, from + BLOCK)} from={from} key={from} />)
  }, [rows])
  return (
    <SelectionContext.Provider value={selection}>
      <div class="keys box" ref={box} onFocusIn={follow}>
        <table aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              <th scope="col" class="select">
                <span class="hidden">Select</span>
              </th>
              {[...columns].map(([name, { title }]) => (
                <th
                  scope="col"
                  class={name}
                  aria-sort={name === sort.column ? (sort.isDown ? 'descending' : 'ascending') : undefined}
                  key={name}
                >
                  <button type="button" class="quiet" onClick={() => onSort(chosen(name, sort))}>
                    {title}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          {blocks}
        </table>
      </div>
    </SelectionContext.Provider>
  )
}

/**
 * When the row with the focus goes away, such as a key that somebody else deleted, the focus moves to the row in its place. Returns
 * what to do when a part of the box gets the focus.
 */
function useRowFocus(box: RefObject<HTMLElement | null>, rows: readonly Row[]): (event: FocusEvent) => void {
  const last = useRef<{ element: Element; uid: string | undefined; at: number }>(undefined)
  // With the row: later, on a slow machine, the page would have moved the focus to its heading.
  useLayoutEffect(() => {
    if (!last.current || last.current.element.isConnected || document.activeElement !== document.body) return
    const { uid, at } = last.current
    const now = rows.findIndex(({ key }) => key.metadata.uid === uid)
    const place = now >= 0 ? now : Math.min(at, rows.length - 1)
    box.current
      ?.querySelector(`[aria-rowindex="${place + FIRST_ROW}"]`)
      ?.querySelector('a')
      ?.focus({ preventScroll: true })
  }, [box, rows])
  return ({ target }) => {
    if (!(target instanceof Element)) return
    const at = Number(target.closest('.row')?.getAttribute('aria-rowindex') ?? 0) - FIRST_ROW
    last.current = at >= 0 ? { element: target, uid: rows[at]?.key.metadata.uid, at } : undefined
  }
}

/** Rows count from 1, and the head is the first one. */
const FIRST_ROW = 2
