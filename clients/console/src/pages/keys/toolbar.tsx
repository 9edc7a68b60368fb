import { useId, useRef } from 'preact/hooks'
import { useShortcut } from '../../components/hooks/useshortcut.ts'
import { columns, type Sort, sortOf, sortText } from '../../keylist/sorting.ts'
import { shortcuts } from '../../text/shortcuts.ts'
import type { ViewControl } from './useview.ts'

/** Longer ones make no sense, and would make a long address. */
const LONGEST = 200

/** The filter and, where no headers of a table do it, the order. */
export function Toolbar({ control: { view, go, type, settle } }: { control: ViewControl }) {
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useShortcut('filter', () => field.current?.focus())
  return (
    <search class="toolbar">
      <div class="filter">
        <label class="hidden" for={id}>
          Filter the keys
        </label>
        <input
          id={id}
          ref={field}
          type="search"
          value={view.filter}
          maxLength={LONGEST}
          placeholder="Filter by name, owner, scope, label, address or state"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          aria-keyshortcuts={shortcuts.filter.keys}
          onInput={(event) => type(event.currentTarget.value)}
          onBlur={settle}
        />
      </div>
      <Order sort={view.sort} onSort={(sort) => go({ sort })} />
    </search>
  )
}

const ORDERS = [...columns].flatMap(([column, { title, directions }]) =>
  directions.map((words, index) => ({ text: sortText({ column, isDown: index === 1 }), words: `${title}, ${words}` })),
)

function Order({ sort, onSort }: { sort: Sort; onSort(sort: Sort): void }) {
  return (
    <select
      class="order"
      aria-label="Order of the keys"
      value={sortText(sort)}
      onChange={(event) => onSort(sortOf(event.currentTarget.value))}
    >
      {ORDERS.map(({ text, words }) => (
        <option value={text} key={text}>
          {words}
        </option>
      ))}
    </select>
  )
}
