/** Deletes an object for a dialog. */
import { useRef } from 'preact/hooks'
import { ApiError } from '../../api/status.ts'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { type Change, useChange } from './usechange.ts'

export interface DeletionProps {
  path: string
  metadata: { name: string; uid: string }
  /** Only this version is deleted, if there is one. */
  resourceVersion?: string
  /** The names of the data that shows the object, in the cache of the session. */
  shownIn: readonly string[]
  /** The address of the list, which follows the page of the object. */
  list: string
  /** Called when the object is not gone yet. */
  refresh(): unknown
  onClose(): void
}

type Left = { metadata?: { uid?: string; deletionTimestamp?: string } } | undefined

/** Deletes exactly the object with this uid. The deletion can be repeated when its answer was lost. */
export function useDeletion(props: DeletionProps): Change {
  const { path, metadata, resourceVersion, shownIn, list, refresh, onClose } = props
  const { name, uid } = metadata
  const { api, cache } = useSession()
  const notify = useNotify()
  const page = useRef(location.hash)

  /** Returns what is left of the object, if something holds its deletion up. */
  const remove = async (wasLost: boolean): Promise<Left> => {
    try {
      const preconditions = { uid, ...(resourceVersion !== undefined && { resourceVersion }) }
      return await api.send<Left>(path, { method: 'DELETE', body: { preconditions } })
    } catch (error) {
      if (wasLost && error instanceof ApiError && error.code === 404) return undefined
      throw error
    }
  }
  return useChange(remove, (left) => {
    onClose()
    if (left?.metadata?.deletionTimestamp !== undefined && left.metadata.uid === uid) {
      notify({ tone: 'warn', text: `${name} does not work any more. Its finalizers hold up its deletion.` })
      return refresh()
    }
    notify({ tone: 'good', text: `${name} was deleted.` })
    for (const data of shownIn) cache.delete(data)
    // The answer may come when the person is on another page.
    if (location.hash === page.current) location.hash = list
  })
}
