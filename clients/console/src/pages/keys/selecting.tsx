import { createContext } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { visible } from '../../text/visible.ts'

export interface Selection {
  /** Those of the shown keys that are selected. A key that is not shown is never selected. */
  selected: readonly AccessKey[]
  shown: readonly AccessKey[]
  /** Whether somebody has selected a key on this page. */
  hasBegun: boolean
  isSelected(key: AccessKey): boolean
  select(keys: readonly AccessKey[], isSelected: boolean): void
}

/** Keeps which of the shown keys are selected, by their UIDs. */
export function useSelection(shown: readonly AccessKey[]): Selection {
  const [uids, setUids] = useState<ReadonlySet<string>>()
  return useMemo(() => {
    const isSelected = ({ metadata }: AccessKey) => uids?.has(metadata.uid) === true
    return {
      selected: uids ? shown.filter(isSelected) : [],
      shown,
      hasBegun: uids !== undefined,
      isSelected,
      select(keys, isAdded) {
        const next = new Set(uids)
        for (const { metadata } of keys) {
          if (isAdded) next.add(metadata.uid)
          else next.delete(metadata.uid)
        }
        setUids(next)
      },
    }
  }, [shown, uids])
}

export const SelectionContext = createContext<Selection | undefined>(undefined)

export function SelectKey({ accessKey }: { accessKey: AccessKey }) {
  const selection = useContext(SelectionContext)
  return (
    <input
      type="checkbox"
      aria-label={`Select ${visible(accessKey.metadata.name)}`}
      checked={selection?.isSelected(accessKey) === true}
      onChange={(event) => selection?.select([accessKey], event.currentTarget.checked)}
    />
  )
}

/** Selects every key that the filter shows, also those that are not drawn. It is no part of the head of the table, which covers the boxes of rows. */
export const SelectAll = ({ selection: { selected, shown, select } }: { selection: Selection }) => (
  <input
    type="checkbox"
    aria-label={`Select all ${shown.length} shown`}
    checked={selected.length === shown.length}
    indeterminate={selected.length > 0 && selected.length < shown.length}
    onChange={(event) => select(shown, event.currentTarget.checked)}
  />
)
