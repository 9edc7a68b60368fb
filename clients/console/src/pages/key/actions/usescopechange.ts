/** Changes the scope of a key as every dialog does: a dry run first, and then what the person has confirmed. */
import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { paths } from '../../../api/paths.ts'
import { useLockout } from '../../../components/forms/uselockout.tsx'
import { type Change, useChange } from '../../../components/hooks/usechange.ts'
import { useNotify } from '../../../session/notices.ts'
import { useSession } from '../../../session/session.ts'
import type { ActionProps } from './actionprops.ts'
import { reviewerPatch, sendPatch } from './patchkey.ts'
import type { ScopeChange } from './scopestep.ts'

export interface CheckedChange {
  change: Change
  /** The key as the server would make it, once it has checked this change. */
  checked: AccessKey | undefined
}

/** `next` is the change, or undefined if nothing changes. `done` says what is true afterwards. */
export function useScopeChange(
  { accessKey, refresh, onClose }: ActionProps,
  next: ScopeChange | undefined,
  done: string,
): CheckedChange {
  const { api } = useSession()
  const notify = useNotify()
  const { name } = accessKey.metadata
  const text = JSON.stringify(next?.patch)
  const [sent, setSent] = useState<{ text: string; key?: AccessKey }>()
  const isSent = sent !== undefined && sent.text === text
  const checked = isSent ? sent.key : undefined
  const saving = useChange(
    async (wasLost) => {
      if (!next) return undefined
      if (checked) return void (await sendPatch(api, name, next.patch, next.isDone, wasLost))
      setSent({ text })
      return api.send<AccessKey>(paths.key(name), { method: 'PATCH', body: next.patch, dryRun: true })
    },
    async (answer) => {
      if (answer) return setSent({ text, key: answer })
      onClose()
      if (!next) return
      notify({ tone: 'good', text: done })
      await refresh()
    },
  )
  const { error, ...change } = useLockout(saving, checked && next && reviewerPatch(accessKey, next.patch))
  // What was wrong with another change is over.
  return { change: { ...change, ...(isSent && { error }) }, checked }
}
