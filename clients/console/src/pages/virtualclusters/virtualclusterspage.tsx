import { useState } from 'preact/hooks'
import { prefixOf, projectIn } from '../../../../core/src/projects.ts'
import { Code } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { useDraft } from '../../session/usedraft.ts'
import { usePolled } from '../../session/usepolled.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { ClusterRow } from './clusterrow.tsx'
import { ClusterToken } from './clustertoken.tsx'
import { type Clusters, readClusters } from './readclusters.ts'
import { REGISTER } from './register.ts'
import { matches } from './words.ts'

/** From this number on there is a filter. */
const MANY = 8

/** The virtual clusters that the person may see, and tokens for connected clusters. */
export function VirtualClustersPage({ route }: { route: Route }) {
  const { self } = useSession()
  const asked = route.query.get('project') ?? ''
  const further = asked === '' ? undefined : prefixOf(self) + asked
  const clusters = usePolled(`virtual-clusters ${asked}`, ({ api }, signal) => readClusters(api, self, further, signal))
  return (
    <Page title="Virtual clusters" about="Kube configs for virtual clusters, and tokens for connected clusters.">
      <Fresh polled={clusters}>{(data) => <ClusterList data={data} asked={asked} />}</Fresh>
      <ClusterToken />
    </Page>
  )
}

function ClusterList({ data: { items, more, only, refused }, asked }: { data: Clusters; asked: string }) {
  const prefix = prefixOf(useSession().self)
  const [filter, setFilter] = useState('')
  const shown = items.filter((one) => matches(one, filter.trim(), prefix))
  return (
    <>
      {only && <Limited only={only} prefix={prefix} asked={asked} />}
      {refused.map(({ place, message }) => (
        <Notice tone="warn" title={`${place} cannot be shown.`} key={place}>
          <p>
            <Foreign text={message} />
          </p>
        </Notice>
      ))}
      {items.length >= MANY && (
        <div class="clusters filter">
          <input
            type="search"
            aria-label="Filter by name, project, owner or state"
            placeholder="Filter by name, project, owner or state"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          <span role="status">
            {shown.length} of {items.length}
          </span>
        </div>
      )}
      {items.length === 0 && !only && <None />}
      {items.length > 0 && shown.length === 0 && <p class="muted">No virtual cluster matches.</p>}
      {shown.length > 0 && (
        <ul class="clusters">
          {shown.map((one) => (
            <ClusterRow cluster={one} prefix={prefix} key={one.metadata.uid} />
          ))}
        </ul>
      )}
      {more && (
        <p class="muted">
          There are more: <code>keyplane kubeconfig --all</code> finds all of them.
        </p>
      )}
    </>
  )
}

/** Says what a key sees that may not list all, and asks for a project. */
function Limited({ only, prefix, asked }: { only: NonNullable<Clusters['only']>; prefix: string; asked: string }) {
  const { draft: project, change, forget } = useDraft(`project ${asked}`, () => asked)
  const places = [
    ...only.namespaces.map((one) => `project ${projectIn(one, prefix) ?? one}`),
    ...only.single.map((one) => one.slice(prefix.length)),
  ]
  return (
    <section class="card clusters limited">
      <p>
        Your access key may not list all virtual clusters.{' '}
        {places.length === 0 ? (
          'Its scope does not name a project.'
        ) : (
          <>
            You see those of: <Foreign text={places.join(', ')} />.
          </>
        )}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          forget()
          location.hash = hrefOf('virtual-clusters', [], { ...(project.trim() !== '' && { project: project.trim() }) })
        }}
      >
        <TextField label="Show another project" value={project} onInput={(text) => change(() => text)} />
        <button type="submit">Show</button>
      </form>
    </section>
  )
}

const None = () => (
  <Empty title="No virtual clusters yet">
    <p>
      A virtual cluster instance registers a virtual cluster that runs somewhere: its address, its certificate
      authority, and who may use it. Then these people download kube configs here. keyplane does not create or delete
      clusters.
    </p>
    <p>You see instances that you own, or that an access rule gives you. An administrator registers one like this:</p>
    <Code title="Register a virtual cluster" text={REGISTER} />
  </Empty>
)
