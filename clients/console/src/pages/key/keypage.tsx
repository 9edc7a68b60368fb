import { useRef, useState } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { useSession } from '../../session/session.ts'
import { type Query, useQuery } from '../../session/usequery.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { Actions } from './actions.tsx'
import { Facts } from './facts.tsx'
import { rotationOf, valuesOf } from './rotation/rotation.ts'
import { useOpened } from './rotation/userotation.ts'
import { States } from './states.tsx'
import { useBesides } from './usebesides.ts'

const EVERY_MS = 15_000
/** While a rotation waits for the first use of its new value. */
const WAITING_MS = 3000

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
  const query = useQuery<AccessKey>(`key/${name}`, ({ api }, signal) => api.send(paths.key(name), { signal }), every)
  const { data, error } = query
  const next = data && rotationOf(valuesOf(data)).step === 'use' ? WAITING_MS : EVERY_MS
  if (next !== every) setEvery(next)
  const [isRotating, startRotating] = useOpened(data?.metadata.uid ?? '')
  const [asked, setAsked] = useState(0)
  const rotate = () => {
    startRotating()
    setAsked(asked + 1)
  }
  const isGone = error instanceof ApiError && error.code === 404
  return (
    <Page
      title={visible(name)}
      about={data?.spec.displayName && <Foreign text={data.spec.displayName} />}
      actions={
        data &&
        !isGone && <Actions key={data.metadata.uid} accessKey={data} refresh={query.refresh} onRotate={rotate} />
      }
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
        <Fresh query={query}>{() => null}</Fresh>
      )}
      {data && <Replaced accessKey={data} />}
      {data && (
        <Details
          key={data.metadata.uid}
          accessKey={data}
          isOwn={name === self.accessKey}
          isGone={isGone}
          rotating={isRotating ? asked : undefined}
          query={query}
        />
      )}
    </Page>
  )
}

/** Says that the name is that of another key now. */
function Replaced({ accessKey: { metadata } }: { accessKey: AccessKey }) {
  const first = useRef(metadata.uid)
  if (first.current === metadata.uid) return null
  return (
    <Notice tone="warn" title="This is another key than before">
      <p>The key that you opened was deleted, and somebody has made a new one with its name.</p>
    </Notice>
  )
}

const rotation = part(async () => (await import('./rotation/rotationsteps.tsx')).RotationSteps)
const further = part(async () => (await import('./furthercards.tsx')).FurtherCards)

interface DetailsProps {
  accessKey: AccessKey
  isOwn: boolean
  isGone: boolean
  /** Changes whenever the person asks for a rotation. */
  rotating: number | undefined
  query: Query<AccessKey>
}

/** Shows the key in the order of wanting: what it is and what needs doing, what it may do, what it did and what happened to it. */
function Details({ accessKey, isOwn, isGone, rotating, query: { refresh } }: DetailsProps) {
  const history = useBesides<KeyHistory>(accessKey, 'history')
  const isUnderWay = rotationOf(valuesOf(accessKey)).step !== 'make' || accessKey.status?.leak !== undefined
  return (
    <>
      <States accessKey={accessKey} isOwn={isOwn} isGone={isGone} history={history.data} />
      <div class="key halves">
        {!isGone && (isUnderWay || rotating !== undefined) && (
          <InPlace of={rotation} what="The rotation" accessKey={accessKey} refresh={refresh} asked={rotating ?? 0} />
        )}
        <Facts accessKey={accessKey} />
        <InPlace of={further} what="The rest of this page" accessKey={accessKey} history={history} refresh={refresh} />
      </div>
    </>
  )
}
