import { useState } from 'preact/hooks'
import { prefixOf, projectIn } from '../../../../core/src/projects.ts'
import { Badge } from '../../components/badge.tsx'
import { Empty } from '../../components/empty.tsx'
import { Foreign, Paragraph } from '../../components/foreign.tsx'
import { Form } from '../../components/forms/form.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { isAdministrator } from '../../components/getstarted/remembered.ts'
import { Notice } from '../../components/notice.tsx'
import { Named, ObjectTable } from '../../components/objecttable.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { DialogPart, part } from '../../components/part.tsx'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { type ClusterKind, CONNECTED, VIRTUAL } from './kinds.ts'
import type { Places } from './places.ts'
import { type Clusters, readClusters } from './readclusters.ts'
import { placeName, type Shown, textOf } from './words.ts'

const connect = part(async () => (await import('./connect.tsx')).ConnectDialog)

/** Shows the virtual clusters or the connected clusters that the person may see. */
export function ClustersPage({ route: { page, query } }: { route: Route }) {
  const kind = page === CONNECTED.page ? CONNECTED : VIRTUAL
  const asked = query.get(kind.further) ?? ''
  const { self } = useSession()
  const [isOpen, open] = useState(false)
  const clusters = useQuery(`${kind.page} ${asked}`, ({ api }, signal) => readClusters(kind, api, self, asked, signal))
  return (
    <Page
      title={kind.title}
      about={kind.about}
      actions={
        isAdministrator(self) && (
          <button type="button" class="primary" aria-haspopup="dialog" onClick={() => open(true)}>
            Connect
          </button>
        )
      }
    >
      <Fresh query={clusters}>{(data) => <ClusterList kind={kind} data={data} asked={asked} />}</Fresh>
      {isOpen && <DialogPart dialog={connect} kind={kind} onClose={() => open(false)} />}
    </Page>
  )
}

interface ListProps {
  kind: ClusterKind
  data: Clusters
  asked: string
}

function ClusterList({ kind, data: { items, more, only, refused }, asked }: ListProps) {
  const factOf = ({ facts }: Shown, column: string) => facts.find(([term]) => term === column)?.[1] ?? ''
  return (
    <>
      {only && <Limited kind={kind} only={only} asked={asked} key={asked} />}
      {refused.map(({ place, message }) => (
        <Notice tone="warn" title={`${visible(place)} cannot be shown.`} key={place}>
          <Paragraph text={message} />
        </Notice>
      ))}
      {items.length === 0 && !only && <None kind={kind} />}
      {items.length > 0 && (
        <ObjectTable
          of={kind.title}
          items={items}
          keyOf={({ uid }) => uid}
          textOf={textOf}
          columns={[
            [
              'Name',
              ({ place, displayName }) => (
                <Named
                  name={placeName(place)}
                  called={displayName}
                  href={hrefOf(kind.page, place.namespace === undefined ? [place.name] : [place.namespace, place.name])}
                />
              ),
            ],
            ...kind.columns.map((one) => [one, (item: Shown) => <Foreign text={factOf(item, one)} />] as const),
            items.some(({ state, canUse }) => state || !canUse) && [
              'State',
              ({ state, canUse }) =>
                canUse ? (
                  state && <Badge tone={state.tone} text={visible(state.text)} />
                ) : (
                  <Badge tone="plain" text="You may not use it" />
                ),
            ],
          ]}
        />
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
    <section class="card stack">
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
      <Form
        class="actions"
        onSubmit={() => {
          location.hash = hrefOf(page, [], { ...(typed.trim() !== '' && { [further]: typed.trim() }) })
        }}
      >
        <TextField label={`Show another ${further}`} value={typed} onInput={setTyped} />
        <button type="submit">Show</button>
      </Form>
    </section>
  )
}

/** Tells administrators how to make the first one, and others whom to ask. */
function None({ kind: { none, noun } }: { kind: ClusterKind }) {
  return (
    <Empty title={`No ${noun}s yet`}>
      <p>{none.what}</p>
      <p>
        {isAdministrator(useSession().self)
          ? 'Connect shows the commands that add one.'
          : `${none.whom} Ask an administrator of keyplane.`}
      </p>
    </Empty>
  )
}
