import { useMemo, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { type Listed, listAll, MAX_LISTED } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { Code } from '../../components/code.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useNow } from '../../components/hooks/usenow.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { Time } from '../../components/time.tsx'
import { type Polled, usePolled } from '../../session/usepolled.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { countCards } from './attention.ts'
import { CardBar } from './cardbar.tsx'
import { NewKey, NoKeys, NoMatch, NotAllowed } from './emptykeys.tsx'
import { pollEvery } from './pace.ts'
import { Rows } from './rows.tsx'
import { countWords, unreadName } from './searched.ts'
import { rowsOf, select } from './selection.ts'
import { Toolbar } from './toolbar.tsx'
import { useView } from './useview.ts'

/** Shows the access keys that the person may see. */
export function KeysPage({ route }: { route: Route }) {
  const [every, setEvery] = useState(pollEvery(0))
  const keys = usePolled('keys', ({ api }, signal) => listAll<AccessKey>(api, paths.keys, signal), every)
  const next = pollEvery(keys.data?.items.length ?? 0)
  if (next !== every) setEvery(next)
  const { data, error } = keys
  return (
    <Page title="Keys" actions={<NewKey />}>
      {data === undefined && error instanceof ApiError && error.code === 403 ? (
        <NotAllowed message={error.message} />
      ) : (
        <Fresh polled={keys}>{(listed) => <Keys listed={listed} polled={keys} route={route} />}</Fresh>
      )}
    </Page>
  )
}

interface KeysProps {
  listed: Listed<AccessKey>
  polled: Polled<unknown>
  route: Route
}

function Keys({ listed: { items, more }, polled, route }: KeysProps) {
  const control = useView(route)
  const { view, go } = control
  const now = useNow()
  const rows = useMemo(() => rowsOf(items), [items])
  const counts = useMemo(() => countCards(items, now), [items, now])
  const { shown, total, exchanges, hidden } = useMemo(() => select(rows, view, now), [rows, view, now])
  if (items.length === 0) return <NoKeys />
  return (
    <>
      {more && <TooMany name={unreadName(view.filter, items)} />}
      <CardBar counts={counts} more={more} chosen={view.card} choose={(card) => go({ card })} />
      <Toolbar control={control} />
      <div class="keys facts">
        <p role="status">{countWords(shown.length, total, more)}</p>
        {exchanges > 0 && (
          <button
            type="button"
            class="quiet"
            aria-pressed={view.exchanges}
            onClick={() => go({ exchanges: !view.exchanges })}
          >
            {exchanges === 1 ? '1 of an exchange' : `${exchanges} of exchanges`}
          </button>
        )}
        <Reading polled={polled} />
      </div>
      {shown.length === 0 ? (
        <NoMatch
          hidden={hidden}
          more={more}
          onClear={() => go({ filter: '', card: undefined })}
          onShow={() => go({ exchanges: true })}
        />
      ) : (
        <Rows shown={shown} sort={view.sort} onSort={(sort) => go({ sort })} />
      )}
    </>
  )
}

/** How old the list is, and a button that reads it again. */
const Reading = ({ polled: { at, refresh } }: { polled: Polled<unknown> }) => (
  <p class="reading muted">
    {at && (
      <>
        As of <Time at={at.toISOString()} direction="past" />
      </>
    )}
    <button type="button" class="quiet" onClick={() => void refresh()}>
      Refresh
    </button>
  </p>
)

/** `name` is the name of a key that may be among those that were not read. */
const TooMany = ({ name }: { name: string | undefined }) => (
  <Notice tone="plain" title={`These are the first ${MAX_LISTED} keys`}>
    <p>
      There are more. The filter and the counts do not see them.{' '}
      {name === undefined ? (
        'Write the whole name of a key into the filter to open it, wherever it is. '
      ) : (
        <>
          <a href={hrefOf('keys', [name])}>
            Look for the key <Foreign text={name} />
          </a>{' '}
          among all.{' '}
        </>
      )}
      The command line lists them all, or those of one owner or with one label:
    </p>
    <Code title="Command line" text="keyplane keys list --owner alice -l app=shop" />
  </Notice>
)
