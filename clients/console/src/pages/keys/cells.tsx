/** Shows the facts of a key. */
import { isUnrestricted } from '../../../../../lib/access/scopes/unrestricted.ts'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { disabledReason, isActive } from '../../api/keyfacts.ts'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { KeyState } from '../../components/keystate.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { Time } from '../../components/time.tsx'
import type { Row } from '../../keylist/selection.ts'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'

/** Shows the name, linked to the page of the key, and the display name. Long texts are cut; the page has them whole. */
export function Name({ row: { key, isExchanged } }: { row: Row }) {
  const { self } = useSession()
  const { metadata, spec } = key
  return (
    <>
      <a href={hrefOf('keys', [metadata.name])} title={visible(metadata.name)}>
        <span class="clamped">
          <Foreign text={metadata.name} />
        </span>
      </a>
      {metadata.name === self.accessKey && <Badge tone="plain" text="Current session" />}
      {isExchanged && <Badge tone="plain" text="Exchange" />}
      {isSession(key) && <Badge tone="plain" text="One command" />}
      {spec.displayName && (
        <span class="muted clamped">
          <Foreign text={spec.displayName} />
        </span>
      )}
    </>
  )
}

export function Owner({ row: { key } }: { row: Row }) {
  const owner = key.status?.owner ?? ''
  return (
    <span class="clamped" title={visible(owner)}>
      <Foreign text={owner} />
    </span>
  )
}

/** Shows what the key may do. */
export function May({ row: { key } }: { row: Row }) {
  const words = scopeWords(key.spec.scope)
  return (
    <span class={isUnrestricted(key.spec.scope) ? 'clamped' : 'clamped muted'} title={visible(words)}>
      <Foreign text={words} />
    </span>
  )
}

export function LastUsed({ row: { key } }: { row: Row }) {
  const at = key.status?.lastActivity
  return at ? <Time at={at} direction="past" /> : <span class="muted">never</span>
}

/** Shows the address that last used the key. The other addresses and the programs are in the part that opens, and on hover. */
export function Sources({ row: { key } }: { row: Row }) {
  const sources = key.status?.lastSources ?? []
  const [latest, ...others] = sources
  if (!latest) return null
  const words = sources.map(({ ip, userAgent }) => visible(userAgent ? `${ip}: ${userAgent}` : ip)).join('\n')
  return (
    <details class="sources">
      <summary title={words}>
        from <Foreign text={latest.ip} />
        {others.length > 0 && ` and ${others.length} more`}
      </summary>
      <ul>
        {sources.map(({ ip, userAgent, lastSeen }) => (
          <li key={ip}>
            <Foreign text={ip} />, <Time at={lastSeen} direction="past" />
            {userAgent && (
              <span class="muted">
                <Foreign text={userAgent} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

export const Made = ({ row: { key } }: { row: Row }) => <Time at={key.metadata.creationTimestamp} direction="past" />

export function Expires({ row: { key } }: { row: Row }) {
  const { spec, status } = key
  if (!status?.expirationTimestamp) return <span>never</span>
  return (
    <>
      <Time at={status.expirationTimestamp} direction="future" />
      {spec.ttlAfterLastActivity && status.phase !== 'Expired' && <span class="muted"> if not used</span>}
    </>
  )
}

const endSession = part(async () => (await import('./endsession.tsx')).EndSession)

/** Shows the state, and why somebody disabled the key. */
export function State({ row: { key } }: { row: Row }) {
  const reason = disabledReason(key)
  return (
    <>
      <span class="badges">
        <KeyState accessKey={key} />
        {isSession(key) && isActive(key) && <InPlace of={endSession} what="How to end it" accessKey={key} />}
      </span>
      {reason && (
        <span class="muted clamped" title={visible(reason)}>
          <Foreign text={reason} />
        </span>
      )}
    </>
  )
}
