import { listAll } from '../../api/lists.ts'
import type { AccessKey } from '../../api/objects.ts'
import { paths } from '../../api/paths.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { usePolled } from '../../session/usepolled.ts'
import { hrefOf } from '../../text/routes.ts'

/** The access keys that the person may see. */
export function KeysPage() {
  const keys = usePolled('keys', ({ api }, signal) => listAll<AccessKey>(api, paths.keys, signal))
  return (
    <Page title="Keys">
      <Fresh polled={keys}>
        {({ items }) => (
          <ul>
            {items.map(({ metadata: { name } }) => (
              <li key={name}>
                <a href={hrefOf('keys', [name])}>
                  <Foreign text={name} />
                </a>
              </li>
            ))}
          </ul>
        )}
      </Fresh>
    </Page>
  )
}
