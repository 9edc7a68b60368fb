/** The credentials that this deployment keeps for a virtual cluster. */

import { formatValue } from '../meta/encoding/badvalue.ts'
import { type Credentials, parseCredentials } from './cluster/credentials.ts'
import { clusterError } from './cluster/failure.ts'
import { certificates, fromBase64, toPem } from './cluster/pem.ts'
import { type Instance, ingressUrl, labelOf } from './instance.ts'
import { secretName } from './secretname.ts'
import { SecretError, type Secrets } from './secrets.ts'

export interface SecretServices {
  secrets: Pick<Secrets, 'get' | 'refresh'>
  /** `keyplane/STAGE/virtualclusters/`: IAM allows nothing else. */
  secretPrefix: string
}

/**
 * What the secret says. Rejects with a ClusterError: `no-credentials` where there is no secret, `credentials` where it
 * cannot be used. `fresh` reads it now, for when the virtual cluster refuses what was kept.
 */
export async function clusterCredentials(
  instance: Instance,
  { secrets, secretPrefix }: SecretServices,
  fresh = false,
): Promise<Credentials> {
  const cluster = labelOf(instance)
  const name = secretName(secretPrefix, instance.secretReference, 'spec.credentialsSecretRef.secretName')
  if (typeof name !== 'string') throw clusterError('credentials', cluster, `${name.error.field}: ${name.error.message}`)
  const text = await (fresh ? secrets.refresh(name) : secrets.get(name)).catch((error) => {
    const missing = error instanceof SecretError && error.code === 'NotFound'
    const advice = `an administrator must keep a kube config for it in AWS Secrets Manager, as the secret ${formatValue(name)}`
    throw missing
      ? clusterError('no-credentials', cluster, advice, error)
      : clusterError('unread-credentials', cluster, '', error)
  })
  const fallbackServer = ingressUrl(instance)
  return parseCredentials(text, { cluster, ...(fallbackServer !== undefined && { fallbackServer }) })
}

/**
 * The authority that clients should trust, in PEM: what the instance says, else what we trust ourselves. Undefined where
 * neither says anything: the endpoint has a certificate of a public authority then.
 */
export function trustedAuthority(instance: Instance, credentials: Credentials | undefined): string | undefined {
  const { certificateAuthorityData } = instance
  if (certificateAuthorityData === undefined) return credentials?.certificateAuthority
  const authorities = certificates(fromBase64(certificateAuthorityData) ?? '')
  if (!authorities) {
    throw clusterError('credentials', labelOf(instance), 'spec.certificateAuthorityData holds no certificate')
  }
  return toPem(authorities)
}
