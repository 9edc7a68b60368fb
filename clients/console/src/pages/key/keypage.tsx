import { useEffect, useRef, useState } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useKeys } from '../../components/hooks/usekeys.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { type Polled, usePolled } from '../../session/usepolled.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { Actions } from './actions.tsx'
import { Facts } from './facts.tsx'
import { LeakNotice } from './leaknotice.tsx'
import { progressOf, rotationOf, valuesOf } from './rotation/rotation.ts'
import { RotationCard } from './rotation/rotationcard.tsx'

const EVERY_MS = 15_000
/** While a rotation waits for the first use of its new value. */
const WAITING_MS = 3000
/** The list tells only what the key made. */
const LIST_MS = 60_000

/** The page of one access key. */
export function KeyPage({ route }: { route: Route }) {
  const [name = ''] = route.parts
  // Any other text would be the address of something else than a key.
  if (isName(name)) return <KeyOf name={name} />
  return (
    <Page title="No such key">
      <p>
        No access key can have the name <Foreign text={name} />. <a href={hrefOf('keys')}>Go to the keys</a>.
      </p>
    </Page>
  )
}

function KeyOf({ name }: { name: string }) {
  const { self } = useSession()
  const [every, setEvery] = useState(EVERY_MS)
  const polled = usePolled<AccessKey>(`key/${name}`, ({ api }, signal) => api.send(paths.key(name), { signal }), every)
  const { data, error } = polled
  const next = data && rotationOf(valuesOf(data)).step === 'use' ? WAITING_MS : EVERY_MS
  if (next !== every) setEvery(next)
  useProgress(data)
  const isGone = error instanceof ApiError && error.code === 404
  return (
    <Page
      title={visible(name)}
      about={data?.spec.displayName && <Foreign text={data.spec.displayName} />}
      actions={data && !isGone && <Actions key={data.metadata.uid} accessKey={data} refresh={polled.refresh} />}
    >
      {isGone ? (
        <Notice tone="warn" title={data ? 'This key was deleted' : 'There is no such key'}>
          <p>
            {data
              ? 'Nothing on this page works any more.'
              : 'It may have been deleted, or your access key may not see it.'}{' '}
            <a href={hrefOf('keys')}>Go to the keys</a>.
          </p>
        </Notice>
      ) : (
        <Fresh polled={polled}>{() => null}</Fresh>
      )}
      {data && <States accessKey={data} isOwn={name === self.accessKey} isGone={isGone} />}
      {data && !isGone && <LeakNotice accessKey={data} />}
      {data && <Details key={data.metadata.uid} accessKey={data} isGone={isGone} polled={polled} />}
    </Page>
  )
}

const TONES = { Active: 'good', Leaked: 'bad', Disabled: 'plain', Expired: 'plain', Terminating: 'warn' } as const

function States({ accessKey, isOwn, isGone }: { accessKey: AccessKey; isOwn: boolean; isGone: boolean }) {
  const phase = accessKey.status?.phase ?? 'Unknown'
  const first = useRef(accessKey.metadata.uid)
  return (
    <>
      <p class="badges">
        {isGone ? (
          <Badge tone="bad" text="Deleted" />
        ) : (
          <Badge tone={TONES[phase as keyof typeof TONES]} text={phase} />
        )}
        {isOwn && <Badge tone="plain" text="Current session" />}
      </p>
      {first.current !== accessKey.metadata.uid && (
        <Notice tone="warn" title="This is another key than before">
          <p>The key that you opened was deleted, and somebody has made a new one with its name.</p>
        </Notice>
      )}
    </>
  )
}

const further = part(async () => (await import('./furthercards.tsx')).FurtherCards)

interface DetailsProps {
  accessKey: AccessKey
  isGone: boolean
  polled: Polled<AccessKey>
}

function Details({ accessKey, isGone, polled: { refresh } }: DetailsProps) {
  const keys = useKeys(LIST_MS)
  return (
    <div class="key">
      <Facts accessKey={accessKey} keys={keys.data?.items ?? []} />
      <div>
        {!isGone && <RotationCard accessKey={accessKey} refresh={refresh} />}
        <InPlace of={further} what="The rest of this page" accessKey={accessKey} keys={keys} refresh={refresh} />
      </div>
    </div>
  )
}

const WORDS = {
  made: undefined,
  used: 'is used with its new value',
  ended: 'has only its new value: the old one has ended',
  discarded: 'keeps its value: the new one was discarded',
} as const

/** Says what happens to a rotation while the page is open. */
function useProgress(key: AccessKey | undefined): void {
  const notify = useNotify()
  const before = useRef<AccessKey>(undefined)
  useEffect(() => {
    const last = before.current
    before.current = key
    if (!key || last?.metadata.uid !== key.metadata.uid) return
    const progress = progressOf(valuesOf(last), valuesOf(key))
    const words = progress && WORDS[progress]
    if (words) notify({ tone: 'good', text: `${key.metadata.name} ${words}.` })
  }, [key, notify])
}
