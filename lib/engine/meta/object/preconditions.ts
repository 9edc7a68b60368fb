/** Checks the preconditions of updates and deletes. Source: k8s.io/apiserver/pkg/storage/interfaces.go (Preconditions.Check). */
import { conflict } from '../errors/status.ts'
import type { GroupResource, ObjectMeta } from '../types.ts'

/** An undefined member matches any value. */
export interface Preconditions {
  uid?: string | undefined
  resourceVersion?: string | undefined
}

/** Throws 409 unless the live object has the uid in the body of an update, if there is one. */
export function checkUid(gr: GroupResource, uid: string | undefined, { name = '', uid: own }: ObjectMeta): void {
  if (!uid || uid === own) return
  throw conflict(gr, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${own}`)
}

/** Throws 409 when a precondition fails. `gr.resource` is the Kind, as in kube-apiserver's message. */
export function checkPreconditions(
  gr: GroupResource,
  { uid, resourceVersion }: Preconditions,
  { name = '', ...live }: ObjectMeta,
): void {
  if (uid !== undefined && uid !== live.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${live.uid})`
    throw conflict(gr, name, `${why}. The object might have been deleted and then recreated`)
  }
  if (resourceVersion !== undefined && resourceVersion !== live.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${live.resourceVersion})`
    throw conflict(gr, name, `${why}. The object might have been modified`)
  }
}
