import { isName } from '../../../../core/src/forms.ts'
import { Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import type { Route } from '../../text/routes.ts'
import { emptyForm } from './form.ts'
import { NewKeyForm } from './newkeyform.tsx'

const likeKey = part(async () => (await import('./likekey.tsx')).LikeKey)

/** Shows the form of a new key: an empty one, or that of a key like the one which the address names. */
export function NewKeyPage({ route }: { route: Route }) {
  const like = route.query.get('like') ?? ''
  return (
    <Page title="New key" about="Choose what it may do. A sentence sums it up.">
      {/* Any other text would be the address of something else than a key. */}
      {isName(like) ? (
        <InPlace of={likeKey} what="The form" name={like} NewKeyForm={NewKeyForm} key={like} />
      ) : (
        <NewKeyForm first={emptyForm} />
      )}
    </Page>
  )
}
