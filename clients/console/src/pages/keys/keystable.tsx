import type { FunctionComponent } from 'preact'
import { isActive } from '../../api/keyfacts.ts'
import { perRow } from '../../components/hooks/perrow.ts'
import { Expires, LastUsed, Made, May, Name, Owner, Sources, State } from './cells.tsx'
import type { Row } from './selection.ts'
import { type ColumnName, chosen, columns, type Sort } from './sorting.ts'

export interface KeysTableProps {
  rows: readonly Row[]
  sort: Sort
  onSort(sort: Sort): void
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

function Used({ row }: { row: Row }) {
  return (
    <>
      <LastUsed row={row} />
      <Sources row={row} />
    </>
  )
}

const TableRow = perRow<Row>(({ row }) => (
  <tr class={isActive(row.key) ? 'row' : 'row ended'}>
    {[...columns].map(([name, { title }]) => {
      const Cell = CELLS[name]
      return (
        <td class={name} data-title={title} key={name}>
          <Cell row={row} />
        </td>
      )
    })}
  </tr>
))

/** The keys as a table whose headers sort it. In a narrow window each row is a card. */
export function KeysTable({ rows, sort, onSort }: KeysTableProps) {
  return (
    <div class="keys box">
      <table>
        <thead>
          <tr>
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
        <tbody>
          {rows.map((row) => (
            <TableRow row={row} key={row.key.metadata.uid} />
          ))}
        </tbody>
      </table>
    </div>
  )
}
