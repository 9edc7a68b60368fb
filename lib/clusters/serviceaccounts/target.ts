/** Reads the parts of connected and virtual clusters that tokens of service accounts depend on. */
import type { NamedPlace } from '../../access/scopes/place.ts'
import type { KubeObject } from '../../engine/meta/types.ts'
import { memberOf } from '../cluster/members.ts'
import { eksReference } from '../eks/reference.ts'
import { SERVICE_ACCOUNTS } from './tokens.ts'

/** The shortest life of their tokens that Kubernetes accepts. */
export const SHORTEST_TOKEN_SECONDS = 600
/** The namespace of the accounts, unless the object names another one. */
const NAMESPACE = 'keyplane'

/** Where accounts of a cluster are, and how this service reaches it. */
export interface AccountTarget {
  /** The name in messages: see clusterError. */
  label: string
  place: NamedPlace
  /** The place with the uid of the object. Another object of the same name is another cluster. */
  key: `clusters/${string}` | `virtualclusters/${string}`
  /** The namespace of accounts and Secrets. */
  namespace: string
  /** The name of the secret with the credentials below the prefix of the deployment, and the field that says it; or a cluster of EKS. */
  secretRef: string
  field: string
  /** Where the cluster of EKS is. Other clusters are where their credentials say. */
  address?: Address
  /** The host of the ingress of a virtual cluster, which has the address if the secret contains none. */
  host?: string
}

/** An https URL, and the authority that signs its certificate: base64 of PEM, or an empty text for the public ones. */
interface Address {
  server: string
  authority: string
}

/** Returns the name of the cluster in `clusters/NAME/UID`, and NAMESPACE/NAME in `virtualclusters/NAMESPACE/NAME/UID`. */
export const clusterIn = (key: string): string => key.split('/').slice(1, -1).join('/')

/** Returns the place without the uid of a connected cluster, as tokens name it. */
export const placeIn = (key: string): string => (isVirtual(key) ? key : `clusters/${clusterIn(key)}`)

export const isVirtual = (key: string): boolean => key.startsWith('virtualclusters/')

/** Returns undefined unless service accounts issue the tokens of the connected cluster. `metadata.deletionTimestamp` is not looked at. */
export function clusterTarget({ metadata, spec }: KubeObject): AccountTarget | undefined {
  const { name = '', uid = '' } = metadata
  if (memberOf(spec, 'tokens') !== SERVICE_ACCOUNTS) return undefined
  const credentials = memberOf(spec, 'credentials')
  const eks = memberOf(credentials, 'eks')
  return {
    label: name,
    place: { type: 'cluster', name },
    key: `clusters/${name}/${uid}`,
    namespace: namespaceIn(spec),
    ...(eks
      ? {
          secretRef: eksReference({
            region: textOf(memberOf(eks, 'region')),
            name: textOf(memberOf(eks, 'clusterName')),
          }),
          address: {
            server: textOf(memberOf(spec, 'server')),
            authority: textOf(memberOf(spec, 'certificateAuthorityData')),
          },
        }
      : { secretRef: textOf(memberOf(memberOf(credentials, 'secretRef'), 'name')) || name }),
    field: 'spec.credentials.secretRef.name',
  }
}

/** The same for a virtual cluster. Not by toInstance, which most functions do not load. */
export function instanceTarget({ metadata, spec }: KubeObject): AccountTarget | undefined {
  const { namespace = '', name = '', uid = '' } = metadata
  if (memberOf(spec, 'tokens') !== SERVICE_ACCOUNTS) return undefined
  const label = `${namespace}/${name}`
  const ingress = memberOf(memberOf(spec, 'accessPoint'), 'ingress')
  const host = memberOf(ingress, 'enabled') === false ? '' : textOf(memberOf(ingress, 'host'))
  return {
    label,
    place: { type: 'virtualCluster', namespace, name },
    key: `virtualclusters/${label}/${uid}`,
    namespace: namespaceIn(spec),
    secretRef: textOf(memberOf(memberOf(spec, 'credentialsSecretRef'), 'secretName')) || label,
    field: 'spec.credentialsSecretRef.secretName',
    ...(host && { host }),
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const namespaceIn = (spec: unknown): string =>
  textOf(memberOf(memberOf(spec, 'serviceAccounts'), 'namespace')) || NAMESPACE
