/** Reads the parts of a virtual cluster instance that its kube configs depend on. */

import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { badRequest } from '../engine/meta/errors/status.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { memberOf } from './cluster/members.ts'
import type { Network } from './cluster/network.ts'
import { isServerUrl } from './cluster/serverurl.ts'

export interface Instance {
  namespace: string
  name: string
  uid: string
  /** Host of the ingress endpoint: HOST or HOST:PORT. */
  host?: string
  /** Base64 of PEM. */
  certificateAuthorityData?: string
  /** How clients reach the ingress endpoint. */
  proxyURL?: string
  tlsServerName?: string
  /** Name of the secret below the deployment's prefix. Defaults to NAMESPACE/NAME. */
  secretReference: string
}

/** Reads the stored object. A disabled ingress counts as absent. */
export function toInstance({ metadata, spec = {} }: KubeObject): Instance {
  const { namespace = '', name = '', uid = '' } = metadata
  const ingress = memberOf(memberOf(spec, 'accessPoint'), 'ingress')
  const host = memberOf(ingress, 'enabled') === false ? undefined : text(ingress, 'host')
  const certificateAuthorityData = text(spec, 'certificateAuthorityData')
  const [proxyURL, tlsServerName] = [text(spec, 'proxyURL'), text(spec, 'tlsServerName')]
  return {
    namespace,
    name,
    uid,
    ...defined({ host, certificateAuthorityData, proxyURL, tlsServerName }),
    secretReference: text(memberOf(spec, 'credentialsSecretRef'), 'secretName') ?? `${namespace}/${name}`,
  }
}

function text(value: unknown, name: string): string | undefined {
  const found = memberOf(value, name)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** Returns NAMESPACE/NAME, the form used in messages. */
export const labelOf = ({ namespace, name }: Instance): string => `${namespace}/${name}`

/** Returns the URL of the ingress endpoint, or undefined when the instance has no valid one. */
export function ingressUrl({ host }: Pick<Instance, 'host'>): string | undefined {
  const url = `https://${host}`
  return host !== undefined && !host.includes('/') && isServerUrl(url) ? url : undefined
}

/** Returns an address to show in an error. Text before an @ may be a password. */
export const withoutPassword = (address: string): string => (address.includes('@') ? '<redacted>' : address)

/**
 * Returns the address that the client requests for the kube config, if it requests one. It is a field error unless it is an absolute
 * https URL; it is written but never dialled.
 */
export function requestedAddress(wanted: string | undefined): string | { error: FieldError } | undefined {
  if (wanted === undefined || wanted === '' || isServerUrl(wanted)) return wanted || undefined
  return { error: invalid('spec.server', withoutPassword(wanted), SERVER_RULE) }
}

/** Returns how clients reach the address of a kube config: of one that the client requests, nothing is known. */
export const networkOf = ({ proxyURL, tlsServerName }: Network, wanted: string | undefined): Network =>
  wanted ? {} : defined({ proxyURL, tlsServerName })

export const SERVER_RULE = 'must be an absolute https URL without user, query and fragment'

/**
 * Returns the address for the kube config: the one that the client requests, or else the ingress endpoint. Throws 400
 * when there is neither.
 */
export function serverAddress(instance: Instance, wanted: string | undefined): string | { error: FieldError } {
  const address = requestedAddress(wanted) ?? ingressUrl(instance)
  if (address !== undefined) return address
  throw badRequest(`virtual cluster "${labelOf(instance)}" has no ingress endpoint: specify an address in spec.server`)
}
