/**
 * Builds ExecCredentials, which clients of Kubernetes read from credential plugins.
 * Source: k8s.io/client-go/pkg/apis/clientauthentication/v1.
 */
import { notAcceptable } from '../meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../meta/types.ts'
import type { IssuedCredential, VirtualKind } from '../registry/kind.ts'
import type { ExecVersion } from './negotiation/accept.ts'

export const execCredential = (status: IssuedCredential, version: ExecVersion): JsonObject => ({
  apiVersion: `client.authentication.k8s.io/${version}`,
  kind: 'ExecCredential',
  status: { ...status },
})

/** Returns the ExecCredential with the credential of a response. Throws 406 if the request asked for no credential. */
export async function credentialOf(kind: VirtualKind, response: KubeObject, version: ExecVersion): Promise<JsonObject> {
  const issued = await kind.credential?.(response)
  if (issued !== undefined) return execCredential(issued, version)
  const error = notAcceptable([])
  error.status.message = `you requested an ExecCredential, but the requested ${kind.kind} has no credential`
  throw error
}
