/** What virtual clusters and connected clusters have of their own. The pages are the same for both. */
import type { DocumentationPage } from '../../../../core/src/documentation.ts'
import type { Cluster, Scope, VirtualCluster } from '../../../../core/src/objects.ts'
import { projectIn } from '../../../../core/src/projects.ts'
import { paths } from '../../api/paths.ts'
import { clusterPlacesOf, type Places, placesOf } from './places.ts'
import { endpointOf, ownerOf, type Shown, stateOf, tokensOf, usersOf } from './words.ts'

export interface ClusterKind {
  page: string
  title: string
  about: string
  noun: string
  /** Which facts the list shows. */
  columns: readonly string[]
  resource: string
  path: string
  /** Returns the path of one, as `Places` name it. */
  pathOf(place: string): string
  placesOf(scope: Scope | undefined, prefix: string, further: string): Places
  /** What is asked for if a key may not list all, in the address too. */
  further: string
  /** The command that finds all of them. */
  findsAll: string
  /** What an empty list says: what an object is for, and who sees it. */
  none: { what: string; whom: string }
  /** How administrators make one. */
  docs: DocumentationPage
  /** What its deletion is called, and what it means. */
  deletion: { word: string; loss: string }
  shown(object: VirtualCluster & Cluster, prefix: string): Shown
}

export const VIRTUAL: ClusterKind = {
  page: 'virtual-clusters',
  title: 'Virtual clusters',
  about: 'Who uses them, and their kube configs.',
  noun: 'virtual cluster',
  columns: ['Owner', 'Endpoint'],
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
  },
  docs: 'first-virtual-cluster',
  deletion: {
    word: 'Unregister',
    loss: 'Nobody gets kube configs of it here any more. The virtual cluster itself goes on.',
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
        ['Used by', usersOf(object.spec?.access, ownerOf(object))],
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
  about: 'Who gets in, and their kube configs.',
  noun: 'connected cluster',
  columns: ['Server', 'Used by'],
  resource: 'clusters',
  path: paths.clusters,
  pathOf: paths.cluster,
  placesOf: clusterPlacesOf,
  further: 'cluster',
  findsAll: 'kubectl get clusters',
  none: {
    what: 'A Cluster gives a connected cluster an address, and says who may use it. Then these people download kube configs here. keyplane does not connect to the address.',
    whom: 'You see clusters that an access rule gives you.',
  },
  docs: 'first-connected-cluster',
  deletion: {
    word: 'Disconnect',
    loss: 'Nobody gets kube configs of it here any more, and tokens of its service accounts end. Its API server goes on asking keyplane until its flags are removed. This prints the steps:',
  },
  shown: ({ metadata: { uid, name }, spec = {}, status }) => ({
    uid,
    place: { name },
    displayName: spec.displayName,
    facts: [
      ['Server', spec.server ?? 'none'],
      ['Used by', usersOf(spec.access)],
      ['Tokens', tokensOf(spec)],
    ],
    canUse: status?.canUse !== false,
  }),
}
