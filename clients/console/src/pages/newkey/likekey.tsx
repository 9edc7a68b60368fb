import type { ComponentType } from 'preact'
import { useRef } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { usePolled } from '../../session/usepolled.ts'
import { visible } from '../../text/visible.ts'
import { formLike, hasOtherScope } from './formlike.ts'
import type { NewKeyFormProps } from './newkeyform.tsx'

const LIKE_MS = 60_000

/** Shows the form of a key like the one with this name. */
export function LikeKey({ name, NewKeyForm }: { name: string; NewKeyForm: ComponentType<NewKeyFormProps> }) {
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
  if (!first.current) return <Fresh polled={polled}>{() => null}</Fresh>
  return (
    <NewKeyForm first={formLike(first.current, self)}>
      <LikeNotice accessKey={first.current} />
    </NewKeyForm>
  )
}

const LikeNotice = ({ accessKey }: { accessKey: AccessKey }) => (
  <Notice tone={hasOtherScope(accessKey) ? 'warn' : 'plain'} title={`Like the key ${visible(accessKey.metadata.name)}`}>
    {hasOtherScope(accessKey) && (
      <p>The form cannot show the scope of that key. Choose what the new one may do, or copy the YAML of the key.</p>
    )}
  </Notice>
)
