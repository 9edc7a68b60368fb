/**
 * Builds ExecCredentials, which clients of Kubernetes read from credential plugins.
 * Source: k8s.io/client-go/pkg/apis/clientauthentication/v1.
 */
import { notAcceptable } from '../meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../meta/types.ts'
import type { IssuedCredential, VirtualKind } from '../registry/kind.ts'

/** Returns the ExecCredential with this credential. */
export const execCredential = (status: IssuedCredential): JsonObject => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  kind: 'ExecCredential',
  status: { ...status },
})

/** Returns the ExecCredential with the credential of a response. Throws 406 if the request asked for no credential. */
export async function credentialOf(kind: VirtualKind, response: KubeObject): Promise<JsonObject> {
  const issued = await kind.credential?.(response)
  if (issued !== undefined) return execCredential(issued)
  const error = notAcceptable([])
  error.status.message = `you requested an ExecCredential, but the requested ${kind.kind} has no credential`
  throw error
}
