import { useRef } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import type { Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { emptyForm, formLike } from './form.ts'
import { NewKeyForm } from './newkeyform.tsx'

/** Shows the form of a new key: an empty one, or that of a key like the one which the address names. */
export function NewKeyPage({ route }: { route: Route }) {
  const like = route.query.get('like') ?? ''
  return (
    <Page title="New key" about="Choose what it may do. A sentence sums it up.">
      {/* Any other text would be the address of something else than a key. */}
      {isName(like) ? <LikeKey name={like} key={like} /> : <NewKeyForm first={emptyForm} />}
    </Page>
  )
}

const LIKE_MS = 60_000

/** Shows the form of a key like the one with this name. */
function LikeKey({ name }: { name: string }) {
  const { self } = useSession()
  const read = useQuery<AccessKey>(`key/${name}`, ({ api }, signal) => api.send(paths.key(name), { signal }), LIKE_MS)
  // What another key with this name is does not change what the person types.
  const first = useRef<AccessKey>(undefined)
  first.current ??= read.data
  if (!first.current) return <Fresh query={read}>{() => null}</Fresh>
  return (
    <NewKeyForm first={formLike(first.current, self)}>
      <Notice tone="plain" title={`Like the key ${visible(first.current.metadata.name)}`} />
    </NewKeyForm>
  )
}
