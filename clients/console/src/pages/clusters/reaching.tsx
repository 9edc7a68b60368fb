import { useRef, useState } from 'preact/hooks'
import type { AccessKey, Cluster, Scope, VirtualCluster } from '../../../../core/src/objects.ts'
import { prefixOf, projectIn } from '../../../../core/src/projects.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { type KeyUsage, lastUseWords } from '../../../../core/src/usage.ts'
import { type Asking, wayInto } from '../../../../core/src/virtualreaches.ts'
import type { Api } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import type { Trust } from '../../api/trusts.ts'
import { Foreign, NameLink } from '../../components/foreign.tsx'
import { FreshList } from '../../components/freshlist.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { useKeys } from '../../components/hooks/usekeys.ts'
import { useTrusts } from '../../components/hooks/usetrusts.ts'
import { ErrorNotice } from '../../components/notice.tsx'
import { Named, ObjectTable } from '../../components/objecttable.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { ownerInWords } from '../../text/access.ts'
import { hrefOf } from '../../text/routes.ts'

/** For how many keys the last use is asked, each with a request. */
const MOST_USES = 50

interface Holder {
  object: AccessKey | Trust
  kind: string
  why: string
}

/** Says who may get into a cluster, and when the cluster has asked keyplane last. */
export function Reaching({ object: cluster }: { object: VirtualCluster & Cluster }) {
  const { api, self } = useSession()
  const keys = useKeys()
  const trusts = useTrusts()
  const [uses, setUses] = useState<ReadonlyMap<string, string>>()
  const asked = useRef<readonly string[]>([])
  const { name, namespace } = cluster.metadata
  const usedAs = namespace === undefined ? `clusters/${name}` : `virtualclusters/${namespace}/${name}`
  const reading = useChange(() => lastUses(api, usedAs, asked.current), setUses)
  const project = namespace === undefined ? undefined : projectIn(namespace, prefixOf(self))
  const isNamedIn = ({ clusters = [], virtualClusters = [] }: Scope) =>
    namespace === undefined
      ? clusters.some((one) => one.cluster === name)
      : virtualClusters.some((one) => one.project === project && one.virtualCluster === name)

  /** Keys of a cluster's own service accounts have one target only, and trusts and keys may be inactive. */
  function holderOf(object: AccessKey | Trust, kind: string): Holder[] {
    const { status } = object
    const hasTarget = status !== undefined && 'target' in status && status.target !== undefined
    const why =
      status?.phase === 'Active' && !hasTarget ? wayInto(object as Asking, cluster, prefixOf(self)) : undefined
    return why === undefined ? [] : [{ object, kind, why }]
  }

  return (
    <section class="stack" aria-labelledby="reaching">
      <h2 id="reaching">Who may get a {namespace === undefined ? 'token for' : 'kube config of'} it</h2>
      <FreshList query={keys} what="keys">
        {({ items, more }) => {
          const holders = [
            ...items.flatMap((one) => holderOf(one, isSession(one) ? 'key of one command' : 'key')),
            ...(trusts.data?.items ?? []).flatMap((one) => holderOf(one, 'trust')),
          ]
          asked.current = holders.flatMap(({ object, kind }) => (kind === 'trust' ? [] : [object.metadata.name]))
          return (
            <>
              <p class="muted">
                Of the active keys and trusts that you may list{more && `, of which not all were read`}. What a token
                may do there is up to the scope and the RBAC of the cluster.
                {namespace === undefined &&
                  cluster.spec?.tokens === 'ServiceAccounts' &&
                  ' Service accounts issue its tokens: only those who may use it get one.'}
              </p>
              <Asked
                by={items.filter(({ spec: { scope }, status }) => status?.mayReview && scope && isNamedIn(scope))}
              />
              {trusts.error !== undefined && trusts.data === undefined && (
                <p class="muted">Trusts could not be read.</p>
              )}
              {holders.length === 0 ? (
                <p>None of them.</p>
              ) : (
                <ObjectTable
                  of="Keys and trusts"
                  items={holders}
                  keyOf={({ object }) => object.metadata.uid}
                  textOf={textOf}
                  columns={[
                    ['Name', (one) => <Named {...namesOf(one)} />],
                    ['Kind', ({ kind }) => kind],
                    ['Owner', ({ object }) => <Foreign text={ownerInWords(object.status?.owner)} />],
                    ['Why', ({ why }) => why],
                    uses && [
                      'Last use there',
                      ({ object, kind }) => kind !== 'trust' && (uses.get(object.metadata.name) ?? 'unknown'),
                    ],
                  ]}
                />
              )}
              {reading.error !== undefined && <ErrorNotice error={reading.error} />}
              {asked.current.length > 0 && !uses && (
                <button type="button" disabled={reading.isBusy} onClick={() => void reading.run()}>
                  {reading.isBusy
                    ? 'Reading…'
                    : `Read the last use there${asked.current.length > MOST_USES ? ` of the first ${MOST_USES}` : ''}`}
                </button>
              )}
            </>
          )
        }}
      </FreshList>
    </section>
  )
}

const namesOf = ({ kind, object: { metadata, spec } }: Holder) => ({
  name: metadata.name,
  called: spec.displayName,
  href: kind === 'trust' ? hrefOf('trusts', ['credentials', metadata.name]) : hrefOf('keys', [metadata.name]),
})

const textOf = ({ object: { metadata, spec, status }, kind, why }: Holder) =>
  [metadata.name, spec.displayName, ownerInWords(status?.owner), kind, why].join('\n')

/** Says when the cluster has asked keyplane last, with the keys that it has for that. */
function Asked({ by: asking }: { by: readonly AccessKey[] }) {
  const [last] = asking
    .flatMap(({ status }) => status?.lastActivity ?? [])
    .sort()
    .reverse()
  if (asking.length === 0) return null
  return (
    <p>
      The cluster{' '}
      {last ? (
        <>
          asked keyplane <Time at={last} direction="past" />
        </>
      ) : (
        'has never asked keyplane'
      )}
      , with{' '}
      {asking.map(({ metadata }) => (
        <NameLink href={hrefOf('keys', [metadata.name])} text={metadata.name} key={metadata.uid} />
      ))}
      .
    </p>
  )
}

/** Returns the days of the last uses in the cluster by the names of the keys, as far as they are recorded. */
async function lastUses(api: Api, cluster: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const pairs = await Promise.all(
    names.slice(0, MOST_USES).map(async (name): Promise<[string, string]> => {
      try {
        const { status } = await api.send<{ status?: KeyUsage }>(paths.usage(name))
        return [name, lastUseWords(status ?? { recording: false }, cluster)]
      } catch (error) {
        if (error instanceof ApiError && [403, 404].includes(error.code)) return [name, 'unknown']
        throw error
      }
    }),
  )
  return new Map(pairs)
}
