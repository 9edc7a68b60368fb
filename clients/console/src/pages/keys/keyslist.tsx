import { isActive } from '../../api/keyfacts.ts'
import { perRow } from '../../components/hooks/perrow.ts'
import { Expires, LastUsed, Made, May, Name, Owner, Sources, State } from './cells.tsx'
import type { Row } from './selection.ts'

const ListRow = perRow<Row>(({ row }) => (
  <li class={isActive(row.key) ? 'card row' : 'card row ended'}>
    <div>
      <Name row={row} />
    </div>
    <State row={row} />
    <dl>
      <div class="whole">
        <dt>Owner</dt>
        <dd>
          <Owner row={row} />
        </dd>
      </div>
      <div class="whole">
        <dt>May do</dt>
        <dd>
          <May row={row} />
        </dd>
      </div>
      <div>
        <dt>Last used</dt>
        <dd>
          <LastUsed row={row} />
        </dd>
      </div>
      <div>
        <dt>Expires</dt>
        <dd>
          <Expires row={row} />
        </dd>
      </div>
      <div>
        <dt>Made</dt>
        <dd>
          <Made row={row} />
        </dd>
      </div>
    </dl>
    <Sources row={row} />
  </li>
))

/** Shows the keys one below the other, for a narrow window. */
export function KeysList({ rows }: { rows: readonly Row[] }) {
  return (
    <ul class="keys list">
      {rows.map((row) => (
        <ListRow row={row} key={row.key.metadata.uid} />
      ))}
    </ul>
  )
}
