import { useState } from 'preact/hooks'
import { prefixOf, projectIn } from '../../../../core/src/projects.ts'
import { Code } from '../../components/code.tsx'
import { DocumentationLink } from '../../components/documentationlink.tsx'
import { Empty } from '../../components/empty.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { isAdministrator } from '../../components/getstarted/remembered.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { usePolled } from '../../session/usepolled.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { ClusterRow } from './clusterrow.tsx'
import { ClusterToken } from './clustertoken.tsx'
import { type ClusterKind, CONNECTED, VIRTUAL } from './kinds.ts'
import type { Places } from './places.ts'
import { type Clusters, readClusters } from './readclusters.ts'
import { matches } from './words.ts'

/** From this number on there is a filter. */
const MANY = 8

/** The virtual clusters that the person may see, or the connected clusters and tokens for them. */
export function ClustersPage({ route: { page, query } }: { route: Route }) {
  const { self } = useSession()
  const kind = page === CONNECTED.page ? CONNECTED : VIRTUAL
  const asked = query.get(kind.further) ?? ''
  const clusters = usePolled(`${page} ${asked}`, ({ api }, signal) => readClusters(kind, api, self, asked, signal))
  return (
    <Page title={kind.title} about={kind.about}>
      <Fresh polled={clusters}>{(data) => <ClusterList kind={kind} data={data} asked={asked} key={page} />}</Fresh>
      {kind === CONNECTED && <ClusterToken />}
    </Page>
  )
}

interface ListProps {
  kind: ClusterKind
  data: Clusters
  asked: string
}

function ClusterList({ kind, data: { items, more, only, refused }, asked }: ListProps) {
  const [filter, setFilter] = useState('')
  const shown = items.filter((one) => matches(one, filter.trim()))
  const label = `Filter by ${kind.searched}`
  return (
    <>
      {only && <Limited kind={kind} only={only} asked={asked} key={asked} />}
      {refused.map(({ place, message }) => (
        <Notice tone="warn" title={`${visible(place)} cannot be shown.`} key={place}>
          <p>
            <Foreign text={message} />
          </p>
        </Notice>
      ))}
      {items.length >= MANY && (
        <div class="clusters filter">
          <input
            type="search"
            aria-label={label}
            placeholder={label}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          <span role="status">
            {shown.length} of {items.length}
          </span>
        </div>
      )}
      {items.length === 0 && !only && <None kind={kind} />}
      {items.length > 0 && shown.length === 0 && <p class="muted">No {kind.noun} matches.</p>}
      {shown.length > 0 && (
        <ul class="clusters">
          {shown.map((one) => (
            <ClusterRow cluster={one} kind={kind} key={one.uid} />
          ))}
        </ul>
      )}
      {more && (
        <p class="muted">
          There are more: <code>{kind.findsAll}</code> finds all of them.
        </p>
      )}
    </>
  )
}

/** Says what a key sees that may not list all, and asks for more. */
function Limited({ kind, only, asked }: { kind: ClusterKind; only: Places; asked: string }) {
  const { page, noun, further } = kind
  const prefix = prefixOf(useSession().self)
  const [typed, setTyped] = useState(asked)
  const places = [
    ...only.namespaces.map((one) => `project ${projectIn(one, prefix) ?? one}`),
    ...only.single.map((one) => (one.includes('/') ? one.slice(prefix.length) : one)),
  ]
  return (
    <section class="card clusters limited">
      <p>
        Your access key may not list all {noun}s.{' '}
        {places.length === 0 ? (
          `Its scope does not name a ${further}.`
        ) : (
          <>
            You see those of: <Foreign text={places.join(', ')} />.
          </>
        )}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          location.hash = hrefOf(page, [], { ...(typed.trim() !== '' && { [further]: typed.trim() }) })
        }}
      >
        <TextField label={`Show another ${further}`} value={typed} onInput={setTyped} />
        <button type="submit">Show</button>
      </form>
    </section>
  )
}

/** Tells administrators how to make the first one, and others whom to ask. */
function None({ kind: { none, noun } }: { kind: ClusterKind }) {
  return (
    <Empty title={`No ${noun}s yet`}>
      <p>{none.what}</p>
      {isAdministrator(useSession().self) ? (
        <>
          <Code title={none.title} text={none.command} />
          <p class="muted">
            See <DocumentationLink page={none.docs} />.
          </p>
        </>
      ) : (
        <p>{none.whom} Ask an administrator of keyplane.</p>
      )}
    </Empty>
  )
}
