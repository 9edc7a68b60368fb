import { paths } from '../../../api/paths.ts'
import { DeleteDialog } from '../../../components/forms/deletedialog.tsx'
import { OwnKey } from '../../../components/ownkey.tsx'
import { hrefOf } from '../../../text/routes.ts'
import type { ActionProps } from './actionprops.ts'

/** Deletes the key once its name was typed: exactly this key, and only as the person has seen it. */
export function DeleteKey({ accessKey: { metadata, status }, ...dialog }: ActionProps) {
  const { name, resourceVersion } = metadata
  return (
    <DeleteDialog
      noun="key"
      path={paths.key(name)}
      mayReview={status?.mayReview}
      metadata={metadata}
      resourceVersion={resourceVersion}
      shownIn={['keys', `key/${name}`]}
      list={hrefOf('keys')}
      {...dialog}
    >
      <p>This cannot be undone.</p>
      <ul class="bullets">
        <li>The next request with this key gets a 401.</li>
        <li>
          Tokens and kube configs made with it end within 30 seconds. Client certificates are valid until they expire.
        </li>
        <li>Keys that it made keep working, and still show that it made them.</li>
      </ul>
      <OwnKey name={name} text="The console signs you out." />
    </DeleteDialog>
  )
}
