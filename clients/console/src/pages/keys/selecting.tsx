import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { Row } from '../../keylist/selection.ts'
import { visible } from '../../text/visible.ts'

export interface Selection {
  /** Those of the shown keys that are selected. A key that is not shown is never selected. */
  rows: readonly Row[]
  shown: readonly Row[]
  /** Whether somebody has selected a key on this page. */
  hasBegun: boolean
  isSelected(row: Row): boolean
  select(rows: readonly Row[], isSelected: boolean): void
}

/** Keeps which of the shown keys are selected, by their UIDs. */
export function useSelection(shown: readonly Row[]): Selection {
  const [uids, setUids] = useState<ReadonlySet<string>>()
  const isSelected = ({ key }: Row) => uids?.has(key.metadata.uid) === true
  return {
    rows: shown.filter(isSelected),
    shown,
    hasBegun: uids !== undefined,
    isSelected,
    select(rows, isAdded) {
      const next = new Set(uids)
      for (const { key } of rows) {
        if (isAdded) next.add(key.metadata.uid)
        else next.delete(key.metadata.uid)
      }
      setUids(next)
    },
  }
}

export const SelectionContext = createContext<Selection | undefined>(undefined)

export function SelectRow({ row }: { row: Row }) {
  const selection = useContext(SelectionContext)
  return (
    <input
      type="checkbox"
      aria-label={`Select ${visible(row.key.metadata.name)}`}
      checked={selection?.isSelected(row) === true}
      onChange={(event) => selection?.select([row], event.currentTarget.checked)}
    />
  )
}

/** Selects every key that the filter shows, also those that are not drawn. It is no part of the head of the table, which covers the boxes of rows. */
export function SelectAll({ selection: { rows, shown, select } }: { selection: Selection }) {
  const box = useRef<HTMLInputElement>(null)
  const isPart = rows.length > 0 && rows.length < shown.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = isPart
  }, [isPart])
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label={`Select all ${shown.length} shown`}
      checked={rows.length === shown.length}
      onChange={(event) => select(shown, event.currentTarget.checked)}
    />
  )
}
