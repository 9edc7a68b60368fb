/** What virtual clusters and connected clusters have of their own. The page, its rows and the dialog are the same for both. */
import type { DocumentationPage } from '../../../../core/src/documentation.ts'
import type { Cluster, Scope, VirtualCluster } from '../../../../core/src/objects.ts'
import { projectIn } from '../../../../core/src/projects.ts'
import { paths } from '../../api/paths.ts'
import { CONNECT, REGISTER } from './commands.ts'
import { clusterPlacesOf, type Places, placesOf } from './places.ts'
import { endpointOf, ownerOf, type Shown, sentenceOf, stateOf } from './words.ts'

export interface ClusterKind {
  page: string
  title: string
  about: string
  noun: string
  /** What the filter searches. */
  searched: string
  resource: string
  path: string
  /** Returns the path of one, as `Places` name it. */
  pathOf(place: string): string
  placesOf(scope: Scope | undefined, prefix: string, further: string): Places
  /** What is asked for if a key may not list all, in the address too. */
  further: string
  /** The command that finds all of them. */
  findsAll: string
  /** What an empty list says: what an object is for, who sees it, and how an administrator makes one. */
  none: { what: string; whom: string; title: string; command: string; docs: DocumentationPage }
  shown(object: VirtualCluster & Cluster, prefix: string): Shown
}

export const VIRTUAL: ClusterKind = {
  page: 'virtual-clusters',
  title: 'Virtual clusters',
  about: 'Kube configs for virtual clusters.',
  noun: 'virtual cluster',
  searched: 'name, project, owner or state',
  resource: 'virtualclusterinstances',
  path: paths.virtualClusters,
  pathOf(place) {
    const [namespace = '', name = ''] = place.split('/')
    return paths.virtualCluster(namespace, name)
  },
  placesOf,
  further: 'project',
  findsAll: 'keyplane kubeconfig --all',
  none: {
    what: 'A virtual cluster instance registers a virtual cluster that runs somewhere: its address, its certificate authority, and who may use it. Then these people download kube configs here. keyplane does not create or delete clusters.',
    whom: 'You see instances that you own, or that an access rule gives you.',
    title: 'Register a virtual cluster',
    command: REGISTER,
    docs: 'first-virtual-cluster',
  },
  shown(object, prefix) {
    const { uid, name, namespace = '' } = object.metadata
    const project = projectIn(namespace, prefix)
    const endpoint = endpointOf(object)
    return {
      uid,
      place: { name, namespace, project },
      displayName: object.spec?.displayName,
      state: stateOf(object),
      facts: [
        [project === undefined ? 'Namespace' : 'Project', project ?? namespace],
        ['Owner', ownerOf(object)],
        ['Endpoint', endpoint ?? 'none'],
      ],
      canUse: object.status?.canUse !== false,
      ...(endpoint === undefined && {
        missing: 'No kube config without an endpoint: an administrator sets spec.accessPoint.ingress.',
      }),
    }
  },
}

export const CONNECTED: ClusterKind = {
  page: 'clusters',
  title: 'Clusters',
  about: 'Kube configs and tokens for connected clusters.',
  noun: 'connected cluster',
  searched: 'name, display name or server',
  resource: 'clusters',
  path: paths.clusters,
  pathOf: paths.cluster,
  placesOf: clusterPlacesOf,
  further: 'cluster',
  findsAll: 'kubectl get clusters',
  none: {
    what: 'A Cluster gives a connected cluster an address, and says who may use it. Then these people download kube configs here. keyplane does not connect to the address.',
    whom: 'You see clusters that an access rule gives you.',
    title: 'Give a cluster an address',
    command: CONNECT,
    docs: 'clusters',
  },
  shown: ({ metadata: { uid, name }, spec = {}, status }) => ({
    uid,
    place: { name },
    displayName: spec.displayName,
    facts: [['Server', spec.server ?? 'none']],
    sentence: sentenceOf(spec.access),
    canUse: status?.canUse !== false,
  }),
}
