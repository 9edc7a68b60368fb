/** Shows the facts of a key, each in one line that is cut. The page of the key, and what is shown on hover, have them whole. */
import type { FunctionComponent } from 'preact'
import { isUnrestricted } from '../../../../../lib/access/scopes/unrestricted.ts'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { isExchanged } from '../../../../core/src/keylives.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { disabledReason, isActive } from '../../api/keyfacts.ts'
import { Badge } from '../../components/badge.tsx'
import { Ends } from '../../components/ends.tsx'
import { Foreign, NameLink } from '../../components/foreign.tsx'
import { KeyState } from '../../components/keystate.tsx'
import type { Column } from '../../components/objecttable.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { Time } from '../../components/time.tsx'
import { type ColumnName, columns } from '../../keylist/sorting.ts'
import { useSession } from '../../session/session.ts'
import { ownerInWords } from '../../text/access.ts'
import { hrefOf } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'

type Cell = FunctionComponent<{ accessKey: AccessKey }>

const Name: Cell = ({ accessKey }) => {
  const { self } = useSession()
  const {
    metadata: { name },
    spec: { displayName },
  } = accessKey
  return (
    <div class="line">
      <NameLink href={hrefOf('keys', [name])} text={name} title={visible(name)} />
      {name === self.accessKey && <Badge tone="plain" text="Current session" />}
      {isExchanged(accessKey) && <Badge tone="plain" text="Exchange" />}
      {isSession(accessKey) && <Badge tone="plain" text="One command" />}
      {displayName && <Foreign text={displayName} class="muted" title={visible(displayName)} />}
    </div>
  )
}

const Owner: Cell = ({ accessKey: { status: { owner = '' } = {} } }) => (
  <Foreign text={ownerInWords(owner)} title={visible(owner)} />
)

/** Shows what the key may do. */
const May: Cell = ({ accessKey }) => {
  const { scope } = accessKey.spec
  const words = scopeWords(scope)
  if (isUnrestricted(scope)) return <Badge tone="warn" text="No scope" title={words} />
  const { roles = [], ...places } = scope ?? {}
  const isReadOnly = roles.length === 1 && roles[0]?.role === 'view' && isSession(accessKey)
  const where = isReadOnly && scopeWords(places).replace(/^(virtual cluster|cluster|space) /, '')
  if (where) return <Badge tone="plain" text={`read-only in ${visible(where)}`} title={visible(words)} />
  return <Foreign text={words} title={visible(words)} />
}

/** Shows when the key was last used, and from where on hover. */
const Used: Cell = ({ accessKey: { status } }) => {
  const { lastActivity, lastSources = [] } = status ?? {}
  if (!lastActivity) return <span class="muted">never</span>
  const sources = lastSources.map(({ ip, userAgent }) => visible(userAgent ? `${ip}: ${userAgent}` : ip))
  return <Time at={lastActivity} direction="past" more={sources} />
}

const Made: Cell = ({ accessKey: { metadata } }) => <Time at={metadata.creationTimestamp} direction="past" />

const endSession = part(async () => (await import('../../components/endsession.tsx')).EndSession)

/** Shows the state, and on hover why somebody disabled the key. */
const State: Cell = ({ accessKey }) => (
  <span class="badges" title={visible(disabledReason(accessKey) ?? '')}>
    <KeyState accessKey={accessKey} />
    {isSession(accessKey) && isActive(accessKey) && (
      <InPlace of={endSession} what="How to end it" accessKey={accessKey} />
    )}
  </span>
)

const CELLS: Readonly<Record<ColumnName, Cell>> = {
  name: Name,
  owner: Owner,
  scope: May,
  used: Used,
  made: Made,
  expires: Ends,
  state: State,
}

/** The columns of the table. */
export const COLUMNS = [...columns].map(([name, { title }]): Column<AccessKey> => {
  const Cell = CELLS[name]
  return [title, (key) => <Cell accessKey={key} />, name]
})
