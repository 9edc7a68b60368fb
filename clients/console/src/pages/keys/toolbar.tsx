import { useId, useRef } from 'preact/hooks'
import { useShortcut } from '../../components/hooks/useshortcut.ts'
import { type TermName, valueIn, withTerm } from '../../keylist/filter.ts'
import { columns, sortOf, sortText } from '../../keylist/sorting.ts'
import type { Summary } from '../../keylist/summary.ts'
import { shortcuts } from '../../text/shortcuts.ts'
import { visible } from '../../text/visible.ts'
import type { ViewControl } from './useview.ts'

/** Longer ones make no sense, and would make a long address. */
const LONGEST = 200
/** The terms that a person can choose. */
const CHIPS: readonly [term: TermName, title: string][] = [
  ['state', 'State'],
  ['owner', 'Owner'],
  ['expires', 'Expires'],
  ['maker', 'Made by'],
  ['trust', 'Trust'],
]

const ORDERS = [...columns].flatMap(([column, { title, directions }]) =>
  directions.map((words, index): Option => [sortText({ column, isDown: index === 1 }), `${title}, ${words}`]),
)

/** The filter, what it can name, and, where no headers of a table do it, the order. */
export function Toolbar({ values, control }: Partial<Summary> & { control: ViewControl }) {
  const { view, go, type, settle } = control
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
          placeholder="Name, owner, address, end of a value, reaches:CLUSTER …"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          aria-keyshortcuts={shortcuts.filter.keys}
          onInput={(event) => type(event.currentTarget.value)}
          onBlur={settle}
        />
      </div>
      <div class="chips">
        {CHIPS.map(([term, title]) => {
          const value = valueIn(view.filter, term) ?? ''
          const known = values?.get(term) ?? []
          const all = value === '' || known.includes(value) ? known : [value, ...known]
          return (
            all.length > 0 && (
              <Chip
                title={title}
                value={value}
                options={[['', 'any'], ...all.map((one): Option => [one, visible(one)])]}
                onChange={(chosen) => go({ filter: withTerm(view.filter, term, chosen || undefined) })}
                key={term}
              />
            )
          )
        })}
        <Chip
          title="Order"
          value={sortText(view.sort)}
          options={ORDERS}
          onChange={(text) => go({ sort: sortOf(text) })}
        />
      </div>
    </search>
  )
}

type Option = readonly [value: string, words: string]

interface ChipProps {
  title: string
  value: string
  options: readonly Option[]
  onChange(value: string): void
}

const Chip = ({ title, value, options, onChange }: ChipProps) => (
  <label class={title === 'Order' ? 'chip order' : 'chip'}>
    {title}
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([one, words]) => (
        <option value={one} key={one}>
          {words}
        </option>
      ))}
    </select>
  </label>
)
