import { actorWords } from '../../../../core/src/historywords.ts'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { disabledReason } from '../../api/keyfacts.ts'
import { Badge } from '../../components/badge.tsx'
import { Ends } from '../../components/ends.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { KeyState } from '../../components/keystate.tsx'
import { Notice } from '../../components/notice.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { Time, When } from '../../components/time.tsx'
import { ownerInWords } from '../../text/access.ts'

const needs = part(async () => (await import('./needs.tsx')).Needs)

export interface StatesProps {
  accessKey: AccessKey
  isOwn: boolean
  isGone: boolean
  history: KeyHistory | undefined
}

/** Says in one line what the key is, and then what needs doing first. */
export function States({ accessKey, isOwn, isGone, history }: StatesProps) {
  const { owner, lastActivity, expirationTimestamp, phase } = accessKey.status ?? {}
  return (
    <>
      <p class="states">
        {isGone ? <Badge tone="bad" text="Deleted" /> : <KeyState accessKey={accessKey} />}
        {isOwn && <Badge tone="plain" text="Current session" />}
        {isSession(accessKey) && <Badge tone="plain" text="One command" />}
        <span>
          Owner <Foreign text={ownerInWords(owner) || 'unknown'} />
        </span>
        <span>
          {expirationTimestamp && phase === 'Expired' ? 'Expired' : 'Expires'} <Ends accessKey={accessKey} />
        </span>
        <span>Last used {lastActivity ? <Time at={lastActivity} direction="past" isDated /> : 'never'}</span>
      </p>
      {!isGone && <Disabled accessKey={accessKey} history={history} />}
      {!isGone && <Leaked accessKey={accessKey} />}
      {!isGone && <InPlace of={needs} what="What needs attention" accessKey={accessKey} />}
    </>
  )
}

/** Says who disabled the key, when and why, as far as that is known. */
function Disabled({ accessKey, history }: Pick<StatesProps, 'accessKey' | 'history'>) {
  const reason = disabledReason(accessKey)
  const act = accessKey.spec.disabled ? history?.events?.find(({ how }) => how === 'Disabled') : undefined
  const actor = act && actorWords(act)
  if (!reason && !act) return null
  return (
    <p>
      Disabled
      {reason && (
        <>
          : <Foreign text={reason} />
        </>
      )}
      {actor && (
        <>
          , by <Foreign text={actor} />
        </>
      )}
      <When at={act?.time} />
    </p>
  )
}

/** Says that the value of the key was reported as leaked, and what to do. */
function Leaked({ accessKey: { spec, status } }: Pick<StatesProps, 'accessKey'>) {
  const { leak, values = [] } = status ?? {}
  if (!leak) return null
  return (
    <Notice tone="bad" title="The value of this key was reported as leaked, and gives no access">
      <p>
        Reported <Time at={leak.reported} direction="past" isDated />
        {leak.url && (
          <>
            , found at <Foreign text={leak.url} />
          </>
        )}
        . It never works again.{' '}
        {values.length > 0
          ? 'The key has a new value that nothing has used yet. Store it.'
          : 'No value works. If the key is still needed, rotate it, and store its new value.'}{' '}
        {spec.disabled ? 'Then enable the key.' : 'The key is enabled.'}
      </p>
    </Notice>
  )
}
