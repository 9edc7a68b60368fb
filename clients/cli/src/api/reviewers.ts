/**
 * Finds the keys with which a cluster asks keyplane about its users, as far as the reader may see them and they have the user of
 * docs/clusters.md. A cluster whose key has ended refuses everybody, and says nothing of the reason.
 */
import { keySelector } from '../../../core/src/keyselector.ts'
import type { AccessKey, Self } from '../../../core/src/objects.ts'
import { asKey, keyPath } from './keys.ts'
import { listAll } from './lists.ts'
import type { Session } from './session.ts'
import { StatusError } from './status.ts'

/** Returns the keys. Without the right to list keys there are none. */
export async function reviewersOf(session: Session, cluster: string): Promise<AccessKey[]> {
  const fieldSelector = keySelector({ owner: `agent-${cluster}` })
  const { items } = await listAll(session, keyPath(), { fieldSelector }).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 403) throw error
    return { items: [] }
  })
  return items
    .map(asKey)
    .filter(({ spec: { scope } }) => scope?.roles?.some(({ role }) => role === 'agent'))
    .filter(({ spec: { scope } }) => scope?.clusters?.some((one) => one.cluster === cluster))
}

/** Returns what is wrong if none of the keys works with which the cluster may ask. Returns undefined if one does, or none is known. */
export async function lockedWords(session: Session, cluster: string): Promise<string | undefined> {
  // To look would exchange an ID token for a key.
  if (session.exchange !== undefined) return undefined
  const keys = await reviewersOf(session, cluster).catch((error: unknown) => {
    if (!(error instanceof StatusError)) throw error
    return []
  })
  const wrong = keys.map(({ metadata: { name }, status }) =>
    status?.phase !== 'Active'
      ? `${name} is ${status?.phase?.toLowerCase() ?? 'in no state'}`
      : status.mayReview
        ? undefined
        : `${name} has no right to review`,
  )
  if (wrong.length === 0 || wrong.includes(undefined)) return undefined
  return `cluster ${cluster} refuses all users of keyplane, because the key with which it asks keyplane does not work: ${wrong.join(', ')}`
}

/** Reports whether somebody may see all keys: others need not look. */
export const seesAllKeys = ({ groups = [], accessKeyScope }: Partial<Self>): boolean =>
  groups.includes('system:masters') && accessKeyScope === undefined
