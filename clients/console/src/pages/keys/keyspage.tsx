import { useMemo } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import type { Listed } from '../../api/lists.ts'
import { ApiError } from '../../api/status.ts'
import { isOver } from '../../components/getstarted/remembered.ts'
import { useKeys } from '../../components/hooks/usekeys.ts'
import { useNow } from '../../components/hooks/usenow.ts'
import { useServerSearch } from '../../components/hooks/useserversearch.ts'
import { Fresh, Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { Time } from '../../components/time.tsx'
import { countCards } from '../../keylist/attention.ts'
import { makersIn } from '../../keylist/filter.ts'
import { countWords, unreadName } from '../../keylist/searched.ts'
import { merged, rowsOf, select } from '../../keylist/selection.ts'
import { isWhole } from '../../keylist/view.ts'
import { useSession } from '../../session/session.ts'
import type { Polled } from '../../session/usepolled.ts'
import type { Route } from '../../text/routes.ts'
import { CardBar } from './cardbar.tsx'
import { Exports } from './exports.tsx'
import { NewKey } from './newkey.tsx'
import { Rows } from './rows.tsx'
import { SelectAll, useSelection } from './selecting.tsx'
import { Toolbar } from './toolbar.tsx'
import { useView } from './useview.ts'

/** Shows the access keys that the person may see. */
export function KeysPage({ route }: { route: Route }) {
  const keys = useKeys()
  const { data, error } = keys
  const { self } = useSession()
  return (
    <Page title="Keys" actions={<NewKey />}>
      {data && !data.isPart && !isOver(self) && <InPlace of={getStarted} keys={data.items} />}
      {data === undefined && error instanceof ApiError && error.code === 403 ? (
        <InPlace of={notAllowed} what="What you may do" message={error.message} />
      ) : (
        <Fresh polled={keys}>{(listed) => <Keys listed={listed} polled={keys} route={route} />}</Fresh>
      )}
    </Page>
  )
}

const getStarted = part(async () => (await import('../../components/getstarted/getstarted.tsx')).GetStarted)

const NONE: readonly AccessKey[] = []

const tooMany = part(async () => (await import('./toomany.tsx')).TooMany)
const searched = part(async () => (await import('./toomany.tsx')).Searched)
const searchedOwn = part(async () => (await import('./toomany.tsx')).SearchedOwn)
const noKeys = part(async () => (await import('./emptykeys.tsx')).NoKeys)
const noMatch = part(async () => (await import('./emptykeys.tsx')).NoMatch)
const notAllowed = part(async () => (await import('./emptykeys.tsx')).NotAllowed)
const selectedBar = part(async () => (await import('./selectedbar.tsx')).SelectedBar)

interface KeysProps {
  listed: Listed<AccessKey>
  polled: Polled<unknown>
  route: Route
}

function Keys({ listed: { items, more, isPart }, polled, route }: KeysProps) {
  const control = useView(route)
  const { view, go } = control
  const now = useNow()
  const isCut = more && !isPart
  const filter = view.filter.trim()
  const { accessKey } = useSession().self
  const own = makersIn(filter).includes(accessKey) ? accessKey : undefined
  const search = useServerSearch(isCut || own ? filter : '', polled.at)
  const isOpen = own !== undefined && !search?.answer?.isKnown
  const found = search?.answer?.keys ?? NONE
  const all = useMemo(() => merged(items, found), [items, found])
  const rows = useMemo(() => rowsOf(all, search), [all, search])
  const counts = useMemo(() => countCards(items, now), [items, now])
  const { shown, total, exchanges, hidden } = useMemo(() => select(rows, view, now), [rows, view, now])
  const selection = useSelection(shown)
  if (items.length === 0 || (!more && total === 0 && isWhole(view))) {
    const onShow = () => go({ exchanges: true })
    return <InPlace of={noKeys} what="What to do without keys" action={<NewKey />} {...{ exchanges, onShow }} />
  }
  return (
    <>
      {isCut && <InPlace of={tooMany} what="How many keys there are" />}
      <CardBar counts={counts} more={more} isCut={isCut} chosen={view.card} choose={(card) => go({ card })} />
      <Toolbar control={control} />
      <div class="keys facts">
        {shown.length > 0 && (
          <span class="select">
            <SelectAll selection={selection} />
          </span>
        )}
        <p role="status">{isPart ? `${total} keys so far…` : isOpen ? '' : countWords(shown.length, total, more)}</p>
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
        {shown.length > 0 && <Exports shown={shown} />}
        <Reading polled={polled} />
      </div>
      {own !== undefined && <InPlace of={searchedOwn} what="How much was searched" search={search} own={own} />}
      {isCut && filter !== '' && own === undefined && (
        <InPlace of={searched} what="How much was searched" search={search} name={unreadName(filter, all)} />
      )}
      {selection.hasBegun && (
        <InPlace of={selectedBar} what="What to do with them" selection={selection} refresh={polled.refresh} />
      )}
      {shown.length === 0 ? (
        <InPlace
          of={noMatch}
          what="That no key matches"
          hidden={hidden}
          more={more}
          search={search}
          own={own}
          onClear={() => go({ filter: '', card: undefined })}
          onShow={() => go({ exchanges: true })}
        />
      ) : (
        <Rows rows={shown} sort={view.sort} onSort={(sort) => go({ sort })} selection={selection} />
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
