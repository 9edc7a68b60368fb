import { useState } from 'preact/hooks'
import type { Cluster, VirtualCluster } from '../../../../core/src/objects.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import { Badge } from '../../components/badge.tsx'
import { Code } from '../../components/code.tsx'
import { Fact } from '../../components/fact.tsx'
import { Foreign, Paragraph } from '../../components/foreign.tsx'
import { isAdministrator } from '../../components/getstarted/remembered.ts'
import { Fresh, Page } from '../../components/page.tsx'
import { DialogPart, InPlace, part } from '../../components/part.tsx'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import { shellWord } from '../../text/kubectl.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { type ClusterKind, CONNECTED, VIRTUAL } from './kinds.ts'
import { KubeConfig } from './kubeconfig.tsx'
import { placeName, type Shown } from './words.ts'

const reaching = part(async () => (await import('./reaching.tsx')).Reaching)
const dialog = part(async () => (await import('./clusterdialog.tsx')).ClusterDialog)

/** Shows one cluster: its state, who may use it, its kube configs, and who may get a token for it. */
export function ClusterPage({ route: { page, parts } }: { route: Route }) {
  const kind = page === CONNECTED.page ? CONNECTED : VIRTUAL
  const { self } = useSession()
  const [open, setOpen] = useState<'access' | 'delete'>()
  const path = kind.pathOf(parts.join('/'))
  const data = `${kind.noun} ${parts.join('/')}`
  const query = useQuery<VirtualCluster & Cluster>(data, ({ api }, signal) => api.send(path, { signal }))
  const { data: object, refresh } = query
  return (
    <Page
      title={visible(object ? placeName(kind.shown(object, prefixOf(self)).place) : parts.join('/'))}
      about={object?.spec?.displayName && <Foreign text={object.spec.displayName} />}
      actions={
        object &&
        isAdministrator(self) && (
          <>
            <button type="button" onClick={() => setOpen('access')}>
              Edit access
            </button>
            <button type="button" class="caution" onClick={() => setOpen('delete')}>
              {kind.deletion.word}
            </button>
          </>
        )
      }
    >
      <Fresh query={query}>
        {(one) => {
          const shown = kind.shown(one, prefixOf(self))
          return (
            <>
              <div class="halves">
                <State kind={kind} shown={shown} />
                {shown.canUse && !shown.missing && <KubeConfig place={shown.place} />}
              </div>
              <InPlace of={reaching} what="Who may get in" object={one} />
            </>
          )
        }}
      </Fresh>
      {object && open && (
        <DialogPart
          dialog={dialog}
          action={open}
          kind={kind}
          object={object}
          path={path}
          data={data}
          refresh={refresh}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  )
}

function State({ kind, shown }: { kind: ClusterKind; shown: Shown }) {
  const { self } = useSession()
  const { state, facts, place, canUse, missing } = shown
  const asked = { verb: 'create', resource: `${kind.resource}/kubeconfig`, name: place.name }
  const question = { key: self.accessKey, ...asked, ...(place.namespace && { namespace: place.namespace }) }
  return (
    <section class="card stack" aria-labelledby="state">
      <h2 id="state">State {state && <Badge tone={state.tone} text={visible(state.text)} />}</h2>
      {state?.details.map((one) => (
        <Paragraph text={one} class="hint" key={one} />
      ))}
      <dl class="facts-list">
        {facts.map(([term, text]) => (
          <Fact name={term} text={text} key={term} />
        ))}
      </dl>
      <p class="muted">
        The cluster's own RBAC decides what their tokens may do there, within the scopes of their access keys.
      </p>
      {!canUse && (
        <p>
          You may not use it. <a href={hrefOf('may-it', [], question)}>Why?</a>
        </p>
      )}
      {missing && <p class="muted">{missing}</p>}
      {kind === CONNECTED && canUse && (
        <Code title="Check the whole way into it" text={`keyplane clusters check ${shellWord(place.name)}\n`} />
      )}
    </section>
  )
}
