import { useRef } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { Fresh, Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { usePolled } from '../../session/usepolled.ts'
import type { Route } from '../../text/routes.ts'
import { emptyForm } from './form.ts'
import { formLike } from './formlike.ts'
import { NewKeyForm } from './newkeyform.tsx'

/** Shows the form of a new key: an empty one, or that of a key like the one which the address names. */
export function NewKeyPage({ route }: { route: Route }) {
  const like = route.query.get('like') ?? ''
  // Any other text would be the address of something else than a key.
  return isName(like) ? <LikeKey name={like} key={like} /> : <NewKeyForm draftName="new-key" first={emptyForm} />
}

const LIKE_MS = 60_000

function LikeKey({ name }: { name: string }) {
  const { self } = useSession()
  const polled = usePolled<AccessKey>(
    `key/${name}`,
    ({ api }, signal) => api.send(paths.key(name), { signal }),
    LIKE_MS,
  )
  const { data } = polled
  // What another key with this name is does not change what the person types.
  const first = useRef<AccessKey>(undefined)
  first.current ??= data
  if (!first.current) {
    return (
      <Page title="New key">
        <Fresh polled={polled}>{() => null}</Fresh>
      </Page>
    )
  }
  return (
    <NewKeyForm
      draftName={`new-key ${first.current.metadata.uid}`}
      first={formLike(first.current, self)}
      like={first.current}
    />
  )
}
