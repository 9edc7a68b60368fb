import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Foreign, NameLink } from './foreign.tsx'

type Column<T> = readonly [title: string, cell: (item: T) => ComponentChildren]

export interface ObjectTableProps<T> {
  /** What is listed, such as `trusts`. */
  of: string
  items: readonly T[]
  keyOf(item: T): string
  /** What the filter searches. */
  textOf(item: T): string
  /** The titles of the columns with what is in them, unless they are left out. The first one names the object. */
  columns: readonly (Column<T> | false | undefined)[]
}

/** From this number on there is a filter. */
const MANY = 8

/** More rows are not drawn: people filter. */
const DRAWN = 200

/** Shows objects in a table, each in a line. On a phone each is a card. */
export function ObjectTable<T>({ of, items, keyOf, textOf, ...rest }: ObjectTableProps<T>) {
  const columns = rest.columns.filter((one) => one !== false && one !== undefined)
  const [filter, setFilter] = useState('')
  const words = filter.trim().toLowerCase().split(/\s+/)
  const found = items.filter((one) => {
    const text = textOf(one).toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <div class="objects">
      {items.length >= MANY && (
        <div class="filter">
          <input
            type="search"
            aria-label={`Filter ${of}`}
            placeholder={`Filter ${of}`}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          <span role="status">
            {found.length} of {items.length}
          </span>
        </div>
      )}
      <table aria-label={of}>
        <thead>
          <tr>
            {columns.map(([title]) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.slice(0, DRAWN).map((one) => (
            <tr key={keyOf(one)}>
              {columns.map(([title, cell]) => (
                <td data-title={title} key={title}>
                  {cell(one)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {found.length > DRAWN && <p class="muted">The first {DRAWN} are shown. Filter for the others.</p>}
    </div>
  )
}

/** Names an object in its first column, with what people call it. */
export const Named = ({ name, called, href }: { name: string; called?: string | undefined; href: string }) => (
  <>
    <NameLink href={href} text={name} />
    {called && <Foreign text={called} class="muted" />}
  </>
)
