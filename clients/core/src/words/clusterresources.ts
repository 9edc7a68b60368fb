/** Knows the resources that every cluster has, by the names that kubectl understands: plural, singular and short ones. */
import {
  type ApiResource,
  managementResource,
  type ResourceText,
} from '../../../../lib/access/attributes/resourcetext.ts'

/** By group: the plural name of each resource, with its short names. */
const RESOURCES: Readonly<Record<string, string>> = {
  '': 'bindings componentstatuses:cs configmaps:cm endpoints:ep events:ev limitranges:limits namespaces:ns nodes:no persistentvolumeclaims:pvc persistentvolumes:pv pods:po podtemplates replicationcontrollers:rc resourcequotas:quota secrets serviceaccounts:sa services:svc',
  apps: 'controllerrevisions daemonsets:ds deployments:deploy replicasets:rs statefulsets:sts',
  batch: 'cronjobs:cj jobs',
  autoscaling: 'horizontalpodautoscalers:hpa',
  policy: 'poddisruptionbudgets:pdb',
  'networking.k8s.io': 'ingresses:ing ingressclasses networkpolicies:netpol ipaddresses:ip servicecidrs',
  'rbac.authorization.k8s.io': 'roles rolebindings clusterroles clusterrolebindings',
  'storage.k8s.io': 'storageclasses:sc volumeattachments csidrivers csinodes csistoragecapacities',
  'apiextensions.k8s.io': 'customresourcedefinitions:crd:crds',
  'apiregistration.k8s.io': 'apiservices',
  'admissionregistration.k8s.io':
    'mutatingwebhookconfigurations validatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings',
  'authentication.k8s.io': 'tokenreviews selfsubjectreviews',
  'authorization.k8s.io':
    'subjectaccessreviews localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews',
  'certificates.k8s.io': 'certificatesigningrequests:csr',
  'coordination.k8s.io': 'leases',
  'discovery.k8s.io': 'endpointslices',
  'events.k8s.io': 'events:ev',
  'flowcontrol.apiserver.k8s.io': 'flowschemas prioritylevelconfigurations',
  'node.k8s.io': 'runtimeclasses',
  'scheduling.k8s.io': 'priorityclasses:pc',
}

const singular = (plural: string): string =>
  plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.replace(/(?<=ss|us)es$|s$/, '')

const known = Object.entries(RESOURCES).flatMap(([group, line]) =>
  line.split(' ').map((one) => {
    const [resource = '', ...short] = one.split(':')
    return { resource, group, names: [resource, singular(resource), ...short] }
  }),
)

type Named = Pick<ResourceText, 'resource' | 'group'>

function inClusters({ resource: word, group }: Named): Required<Named> | undefined {
  const lower = word.toLowerCase()
  const found = known.find((one) => one.names.includes(lower) && (group === undefined || group === one.group))
  return found && { resource: found.resource, group: found.group }
}

/** Returns the resource that a text names in a cluster. Any other may be a custom one, and is returned as it is. */
export const clusterResource = (named: Named): Required<Named> =>
  inClusters(named) ?? { resource: named.resource, group: named.group ?? '' }

/** The groups of Kubernetes in the management API. */
const HERE: readonly string[] = ['authentication.k8s.io', 'authorization.k8s.io', 'apiextensions.k8s.io']

/** Returns the resource that a text names in the management API, whose group has these resources, or undefined if there is none. */
export function resourceHere(
  named: Named,
  group: string,
  resources: readonly ApiResource[],
): Required<Named> | undefined {
  if (named.group !== undefined && named.group !== group) return clusterResource(named)
  const found = managementResource(named.resource, group, resources)
  if (found !== undefined || named.group !== undefined) return found
  const other = inClusters(named)
  return other && HERE.includes(other.group) ? other : undefined
}
