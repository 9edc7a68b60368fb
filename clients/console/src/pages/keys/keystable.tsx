import type { AccessKey } from '../../../../core/src/objects.ts'
import { isActive } from '../../api/keyfacts.ts'
import { Ends } from '../../components/ends.tsx'
import { type Column, Table } from '../../components/objecttable.tsx'
import { type ColumnName, chosen, columns, type Sort } from '../../keylist/sorting.ts'
import { type Cell, Made, May, Name, Owner, State, Used } from './cells.tsx'
import { type Selection, SelectionContext, SelectKey } from './selecting.tsx'

export interface KeysTableProps {
  keys: readonly AccessKey[]
  sort: Sort
  onSort(sort: Sort): void
  selection: Selection
}

const CELLS: Readonly<Record<ColumnName, Cell>> = {
  name: Name,
  owner: Owner,
  scope: May,
  used: Used,
  made: Made,
  expires: Ends,
  state: State,
}

const COLUMNS = [...columns].map(([name, { title }]): Column<AccessKey> => {
  const Cell = CELLS[name]
  return [title, (key) => <Cell accessKey={key} />, name]
})

/** The keys as a table whose headers sort it. In a narrow window each row has two lines. */
export const KeysTable = ({ keys, sort, onSort, selection }: KeysTableProps) => (
  <SelectionContext.Provider value={selection}>
    <div class="keys box">
      <Table
        of="Keys"
        items={keys}
        columns={COLUMNS}
        keyOf={({ metadata }) => metadata.uid}
        classOf={(key) => (isActive(key) ? 'row' : 'row ended')}
        select={(key) => <SelectKey accessKey={key} />}
        sort={{ ...sort, choose: (name) => onSort(chosen(name as ColumnName, sort)) }}
      />
    </div>
  </SelectionContext.Provider>
)
