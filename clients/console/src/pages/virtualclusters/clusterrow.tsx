import type { VirtualCluster } from '../../../../core/src/objects.ts'
import { projectIn } from '../../../../core/src/projects.ts'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useSession } from '../../session/session.ts'
import { useDraftDialog } from '../../session/usedraft.ts'
import { hrefOf } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { KubeConfigDialog } from './kubeconfigdialog.tsx'
import { choiceName } from './ways.ts'
import { endpointOf, ownerOf, stateOf } from './words.ts'

export function ClusterRow({ cluster, prefix }: { cluster: VirtualCluster; prefix: string }) {
  const { metadata, spec, status } = cluster
  const [isOpen, open] = useDraftDialog(choiceName(metadata.uid))
  const { name, namespace = '' } = metadata
  const project = projectIn(namespace, prefix)
  const { tone, text, details } = stateOf(cluster)
  const endpoint = endpointOf(cluster)
  return (
    <li class="card">
      <div>
        <h2>
          <Foreign text={name} />
        </h2>
        {spec?.displayName && (
          <p>
            <Foreign text={spec.displayName} />
          </p>
        )}
        <Badge tone={tone} text={visible(text)} />
        {details.map((one) => (
          <p class="hint" key={one}>
            <Foreign text={one} />
          </p>
        ))}
      </div>
      <dl>
        <dt>{project === undefined ? 'Namespace' : 'Project'}</dt>
        <dd>
          <Foreign text={project ?? namespace} />
        </dd>
        <dt>Owner</dt>
        <dd>
          <Foreign text={ownerOf(cluster)} />
        </dd>
        <dt>Endpoint</dt>
        <dd>{endpoint === undefined ? 'none' : <Foreign text={endpoint} />}</dd>
      </dl>
      {status?.canUse === false && <MayNot name={name} namespace={namespace} />}
      {status?.canUse !== false && endpoint === undefined && (
        <p class="muted">No kube config without an endpoint: an administrator sets spec.accessPoint.ingress.</p>
      )}
      {status?.canUse !== false && endpoint !== undefined && (
        <button type="button" onClick={() => open(true)}>
          Download kube config<span class="hidden"> of {visible(name)}</span>
        </button>
      )}
      {isOpen && <KubeConfigDialog cluster={cluster} onClose={() => open(false)} />}
    </li>
  )
}

function MayNot({ name, namespace }: { name: string; namespace: string }) {
  const { self } = useSession()
  const resource = 'virtualclusterinstances/kubeconfig'
  return (
    <p class="muted">
      You may not use it.{' '}
      <a href={hrefOf('may-it', [], { key: self.accessKey, verb: 'create', resource, name, namespace })}>Why?</a>
    </p>
  )
}
