/** Shows the facts of a key, each in one line that is cut. The page of the key, and what is shown on hover, have them whole. */
import { isUnrestricted } from '../../../../../lib/access/scopes/unrestricted.ts'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { disabledReason, isActive } from '../../api/keyfacts.ts'
import { Badge } from '../../components/badge.tsx'
import { Ends } from '../../components/ends.tsx'
import { Foreign, NameLink } from '../../components/foreign.tsx'
import { KeyState } from '../../components/keystate.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { Time } from '../../components/time.tsx'
import type { Row } from '../../keylist/selection.ts'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'

export function Name({ row: { key, isExchanged } }: { row: Row }) {
  const { self } = useSession()
  const { name } = key.metadata
  return (
    <div class="line">
      <NameLink href={hrefOf('keys', [name])} text={name} title={visible(name)} />
      {name === self.accessKey && <Badge tone="plain" text="Current session" />}
      {isExchanged && <Badge tone="plain" text="Exchange" />}
      {isSession(key) && <Badge tone="plain" text="One command" />}
      {key.spec.displayName && (
        <Foreign text={key.spec.displayName} class="muted" title={visible(key.spec.displayName)} />
      )}
    </div>
  )
}

export function Owner({ row: { key } }: { row: Row }) {
  const owner = key.status?.owner ?? ''
  return <Foreign text={owner} title={visible(owner)} />
}

/** Shows what the key may do. */
export function May({ row: { key } }: { row: Row }) {
  const { scope } = key.spec
  const words = scopeWords(scope)
  if (isUnrestricted(scope)) return <Badge tone="warn" text="No scope" title={words} />
  const { roles = [], ...places } = scope ?? {}
  const isReadOnly = roles.length === 1 && roles[0]?.role === 'view' && isSession(key)
  const where = isReadOnly && scopeWords(places).replace(/^(virtual cluster|cluster|space) /, '')
  if (where) return <Badge tone="plain" text={`read-only in ${visible(where)}`} title={visible(words)} />
  return <Foreign text={words} title={visible(words)} />
}

/** Shows when the key was last used, and from where on hover. */
export function Used({ row: { key } }: { row: Row }) {
  const { lastActivity, lastSources = [] } = key.status ?? {}
  if (!lastActivity) return <span class="muted">never</span>
  const sources = lastSources.map(({ ip, userAgent }) => visible(userAgent ? `${ip}: ${userAgent}` : ip))
  return <Time at={lastActivity} direction="past" more={sources} />
}

export const Made = ({ row: { key } }: { row: Row }) => <Time at={key.metadata.creationTimestamp} direction="past" />

export const Expires = ({ row: { key } }: { row: Row }) => <Ends accessKey={key} />

const endSession = part(async () => (await import('../../components/endsession.tsx')).EndSession)

/** Shows the state, and on hover why somebody disabled the key. */
export function State({ row: { key } }: { row: Row }) {
  return (
    <span class="badges" title={visible(disabledReason(key) ?? '')}>
      <KeyState accessKey={key} />
      {isSession(key) && isActive(key) && <InPlace of={endSession} what="How to end it" accessKey={key} />}
    </span>
  )
}
