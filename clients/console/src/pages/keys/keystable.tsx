import type { FunctionComponent } from 'preact'
import { isActive } from '../../api/keyfacts.ts'
import { perRow } from '../../components/hooks/perrow.ts'
import { useNear } from '../../components/hooks/usenear.ts'
import type { Row } from '../../keylist/selection.ts'
import { type ColumnName, chosen, columns, type Sort } from '../../keylist/sorting.ts'
import { Expires, LastUsed, Made, May, Name, Owner, Sources, State } from './cells.tsx'
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

function Used({ row }: { row: Row }) {
  return (
    <>
      <LastUsed row={row} />
      <Sources row={row} />
    </>
  )
}

const TableRow = perRow<Row>(({ row, at }) => (
  <tr class={isActive(row.key) ? 'row' : 'row ended'} aria-rowindex={at + 2}>
    <td class="select">
      <SelectRow row={row} />
    </td>
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

/** So many rows are drawn or not drawn together. */
const BLOCK = 40
/** The height of a row that was never drawn, in pixels. */
const ROW_HEIGHT = 66

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

/** The keys as a table whose headers sort it. In a narrow window each row is a card. */
export function KeysTable({ rows, sort, onSort, selection }: KeysTableProps) {
  const blocks = Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, index) =>
    rows.slice(index * BLOCK, (index + 1) * BLOCK),
  )
  return (
    <SelectionContext.Provider value={selection}>
      <div class="keys box">
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
          {blocks.map((block, index) => (
            <Block rows={block} from={index * BLOCK} key={index} />
          ))}
        </table>
      </div>
    </SelectionContext.Provider>
  )
}
