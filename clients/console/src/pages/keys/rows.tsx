import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { KeysTable } from './keystable.tsx'
import type { Row } from './selection.ts'
import type { Sort } from './sorting.ts'

/** A page draws so many rows at once: more would make it slow, and nobody reads them. */
const STEP = 100

export interface RowsProps {
  shown: readonly Row[]
  sort: Sort
  onSort(sort: Sort): void
}

/** Shows the first keys, and more on demand. */
export function Rows({ shown, sort, onSort }: RowsProps) {
  const box = useRef<HTMLDivElement>(null)
  const [most, setMost] = useState(STEP)
  const rows = shown.slice(0, most)
  const follow = useRowFocus(box, shown)
  useEffect(() => {
    if (most > STEP) focusRow(box, most - STEP)
  }, [most])
  return (
    <div class="rows" ref={box} onFocusIn={follow}>
      <KeysTable rows={rows} sort={sort} onSort={onSort} />
      {shown.length > rows.length && (
        <p class="more">
          These are the first {rows.length}.
          <button type="button" onClick={() => setMost(most + STEP)}>
            Show {Math.min(STEP, shown.length - most)} more
          </button>
        </p>
      )}
    </div>
  )
}

const rowsIn = (box: RefObject<HTMLElement | null>) => [...(box.current?.querySelectorAll('.row') ?? [])]

const focusRow = (box: RefObject<HTMLElement | null>, index: number, options?: FocusOptions) =>
  rowsIn(box)[index]?.querySelector<HTMLElement>('a')?.focus(options)

/**
 * When the row with the focus goes away, such as a key that somebody else deleted, the focus moves to the row in its place. Returns
 * what to do when a part of the box gets the focus.
 */
function useRowFocus(box: RefObject<HTMLElement | null>, shown: readonly Row[]): (event: FocusEvent) => void {
  const last = useRef<{ element: Element; index: number }>(undefined)
  // With the row: later, on a slow machine, the page would have moved the focus to its heading.
  useLayoutEffect(() => {
    if (!last.current || last.current.element.isConnected || document.activeElement !== document.body) return
    focusRow(box, Math.min(last.current.index, shown.length - 1), { preventScroll: true })
  }, [box, shown])
  return ({ target }) => {
    if (!(target instanceof Element)) return
    const row = target.closest('.row')
    last.current = row ? { element: target, index: rowsIn(box).indexOf(row) } : undefined
  }
}
