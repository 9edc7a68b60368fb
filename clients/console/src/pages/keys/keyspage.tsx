import { useMemo } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { isActive } from '../../api/keyfacts.ts'
import type { Listed } from '../../api/lists.ts'
import { FreshList } from '../../components/freshlist.tsx'
import { useNow } from '../../components/hooks/usenow.ts'
import { useServerSearch } from '../../components/hooks/useserversearch.ts'
import { Table } from '../../components/objecttable.tsx'
import { Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { cards } from '../../keylist/attention.ts'
import { ANY, valueIn, withTerm } from '../../keylist/filter.ts'
import { countText, countWords, merged } from '../../keylist/searched.ts'
import { madeBy, type Selection, select } from '../../keylist/selection.ts'
import { type ColumnName, chosen, sorted, sortText } from '../../keylist/sorting.ts'
import { type Summary, summaryOf } from '../../keylist/summary.ts'
import { useSession } from '../../session/session.ts'
import type { Query } from '../../session/usequery.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { COLUMNS } from './cells.tsx'
import { SelectAll, SelectionContext, SelectKey, useSelection } from './selecting.tsx'
import { Toolbar } from './toolbar.tsx'
import { useSliced } from './usesliced.ts'
import { useView, type ViewControl } from './useview.ts'

const newKey = (
  <a class="button primary" href={hrefOf('new-key')}>
    New key
  </a>
)

interface KeysPageProps {
  keys: Query<Listed<AccessKey>>
  route: Route
}

/** Shows the access keys that the person may see. */
export const KeysPage = ({ keys, route }: KeysPageProps) => (
  <Page title="Keys" actions={newKey}>
    <FreshList query={keys} what="keys">
      {(listed) => <Keys listed={listed} keys={keys} route={route} />}
    </FreshList>
  </Page>
)

const NONE: readonly AccessKey[] = []
const NOTHING: Selection = { shown: [], total: 0, exchanges: 0, hidden: 0 }

const told = part(async () => (await import('./told.tsx')).Told)
const noKeys = part(async () => (await import('./emptykeys.tsx')).NoKeys)
const noMatch = part(async () => (await import('./emptykeys.tsx')).NoMatch)
const selectedBar = part(async () => (await import('./selectedbar.tsx')).SelectedBar)

function Keys({ listed: { items, more, isPart }, keys, route }: KeysPageProps & { listed: Listed<AccessKey> }) {
  const control = useView(route)
  const { view, go } = control
  const now = useNow()
  const isCut = more && !isPart
  const filter = view.filter.trim()
  const { accessKey } = useSession().self
  const reached = valueIn(filter, 'reaches')
  const own = valueIn(filter, 'maker') === accessKey ? accessKey : undefined
  const search = useServerSearch(isCut || own ? filter : '', keys.at)
  const isOpen = own !== undefined && !search?.answer?.isKnown
  const found = search?.answer?.keys ?? NONE
  const all = useMemo(() => merged(items, found), [items, found])
  const order = useSliced(() => sorted(all, view.sort), [all, sortText(view.sort)])
  const selected = useSliced(
    function* () {
      return order && (yield* select(order, filter, { now, made: madeBy(search) }))
    },
    [order, filter, search, now],
  )
  const summary = useSliced(() => summaryOf(items, now), [items, now])
  const { shown, total, exchanges, hidden } = selected ?? NOTHING
  const selection = useSelection(shown)
  const onShow = () => go({ filter: withTerm(filter, 'trust', ANY) })
  if (!selected) return <p class="loading">Loading…</p>
  if (items.length === 0 || (!more && total === 0 && filter === '')) {
    return <InPlace of={noKeys} what="What to do without keys" action={newKey} {...{ exchanges, onShow }} />
  }
  return (
    <>
      <Toolbar {...summary} control={control} />
      <div class="keys facts">
        {shown.length > 0 && <SelectAll selection={selection} />}
        <p role="status">{isPart ? `${total} keys so far…` : isOpen ? '' : countWords(shown.length, total, more)}</p>
        <Attention {...summary} more={more} control={control} />
        {exchanges > 0 && (
          <button
            type="button"
            class="quiet"
            aria-pressed={valueIn(filter, 'trust') !== undefined}
            onClick={() => (valueIn(filter, 'trust') ? go({ filter: withTerm(filter, 'trust', undefined) }) : onShow())}
          >
            {exchanges === 1 ? '1 of an exchange' : `${exchanges} of exchanges`}
          </button>
        )}
        <span class="end">
          <button type="button" class="quiet" onClick={() => void keys.refresh()}>
            Refresh
          </button>
        </span>
      </div>
      {(isCut || own !== undefined || reached !== undefined) && (
        <InPlace of={told} what="What the list leaves out" {...{ search, isCut, filter, own, read: all, reached }} />
      )}
      {selection.hasBegun && (
        <InPlace of={selectedBar} what="What to do with them" selection={selection} refresh={keys.refresh} />
      )}
      {shown.length === 0 ? (
        <InPlace
          of={noMatch}
          what="That no key matches"
          {...{ filter, hidden, onShow }}
          isOpen={own || more ? !search?.answer?.isKnown || search.answer.more : false}
          onClear={() => go({ filter: '' })}
        />
      ) : (
        <SelectionContext.Provider value={selection}>
          <div class="keys box">
            <Table
              of="Keys"
              items={shown}
              columns={COLUMNS}
              keyOf={({ metadata }) => metadata.uid}
              classOf={(key) => (isActive(key) ? 'row' : 'row ended')}
              select={(key) => <SelectKey accessKey={key} />}
              sort={{ ...view.sort, choose: (name) => go({ sort: chosen(name as ColumnName, view.sort) }) }}
            />
          </div>
        </SelectionContext.Provider>
      )}
    </>
  )
}

/** Says how many keys need attention and why, in buttons that show them alone, and what to do about those. */
function Attention({
  counts,
  more,
  control: { view, go },
}: Partial<Summary> & { more: boolean; control: ViewControl }) {
  const chosen = valueIn(view.filter, 'needs')
  return (
    <section aria-label="Needs attention">
      {[...cards].map(([name, { title, about }]) => {
        const count = counts?.get(name) ?? 0
        if (count === 0 && name !== chosen) return null
        return (
          <button
            type="button"
            class="quiet"
            title={about}
            aria-pressed={name === chosen}
            onClick={() => go({ filter: withTerm(view.filter, 'needs', name === chosen ? undefined : name) })}
            key={name}
          >
            <strong>{countText(count, more)}</strong> {title}
          </button>
        )
      })}
      {[...cards].map(([name, { about }]) => name === chosen && <p key={name}>{about}</p>)}
    </section>
  )
}
