/** Reviews requests of keyplane's users with the API, as the authorization webhook of a cluster does (docs/clusters.md). */
import { EXTRA } from '../../../lib/clusters/token/contract.ts'
import { createApiClient } from './apiclient.ts'
import type { AccessAttributes, ClusterUser } from './clusteraccess.ts'

export interface AccessReviewOptions {
  /** URL with the base path. */
  api: string
  /** PEM of the authority of that server. */
  authority: string
  accessKey: string
}

/** Returns the reason of a denial, or undefined when the API allows the request or has no opinion. */
export type ReviewAccess = (
  user: ClusterUser,
  asked: AccessAttributes | { path: string },
) => Promise<string | undefined>

/** Creates the reviewer. Denies the request when the review fails. */
export function createAccessReview({ api, authority, accessKey }: AccessReviewOptions): ReviewAccess {
  const client = createApiClient(authority, accessKey)
  const url = `${api}/apis/authorization.k8s.io/v1/subjectaccessreviews`
  return async ({ name, groups, extra }, asked) => {
    if (extra?.[EXTRA.keyUid] === undefined) return undefined
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: name, groups, extra, ...attributesOf(asked) },
    }
    const { status, body } = await client.send('POST', url, review).catch(() => ({ status: 0, body: undefined }))
    const answer = (body as { status?: { denied?: boolean; reason?: string } } | undefined)?.status
    if (status !== 201 || typeof answer !== 'object') return 'the access review failed'
    return answer.denied ? (answer.reason ?? '') : undefined
  }
}

function attributesOf(asked: AccessAttributes | { path: string }) {
  if ('path' in asked) return { nonResourceAttributes: { path: asked.path, verb: 'get' } }
  const [resource = '', ...subresource] = asked.resource.split('/')
  return { resourceAttributes: { ...asked, version: 'v1', resource, subresource: subresource.join('/') } }
}
