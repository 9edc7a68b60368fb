import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Row } from '../../keylist/selection.ts'
import { KeysTable, type KeysTableProps } from './keystable.tsx'

/** Shows the keys, and keeps the focus among them. */
export function Rows(props: KeysTableProps) {
  const box = useRef<HTMLDivElement>(null)
  const follow = useRowFocus(box, props.rows)
  return (
    <div ref={box} onFocusIn={follow}>
      <KeysTable {...props} />
    </div>
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
