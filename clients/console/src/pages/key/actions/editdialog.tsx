import { useEffect, useState } from 'preact/hooks'
import { keyTexts } from '../../../../../../lib/keys/ownedaccesskey.texts.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import { KeyTextField } from '../../../components/forms/keytextfield.tsx'
import { LifetimeField } from '../../../components/forms/lifetimefield.tsx'
import { SourcesField } from '../../../components/forms/sourcesfield.tsx'
import { useLockout } from '../../../components/forms/uselockout.tsx'
import { useChange } from '../../../components/hooks/usechange.ts'
import { useNotify } from '../../../session/notices.ts'
import { useSession } from '../../../session/session.ts'
import { countProblem } from '../../../text/lifetimechoice.ts'
import { exact } from '../../../text/times.ts'
import type { ActionProps } from './actionprops.ts'
import { type Edit, editOf, endWith, patchOf } from './edit.ts'
import { patchKey, reviewerPatch } from './patchkey.ts'

/** Changes the texts, the lifetime and the addresses of a key. */
export function EditDialog({ accessKey, refresh, onClose }: ActionProps) {
  const { api } = useSession()
  const notify = useNotify()
  const { name, uid } = accessKey.metadata
  const [edit, setEdit] = useState(() => editOf(accessKey))
  const [submits, setSubmits] = useState(0)
  const { after } = edit
  const patch = patchOf(uid, edit)
  const wrong = countProblem(after)?.text
  useEffect(() => document.querySelector<HTMLElement>('dialog [aria-invalid]')?.focus(), [submits])
  const set = (changes: Partial<Edit['after']>) =>
    setEdit((before) => ({ ...before, after: { ...before.after, ...changes } }))
  const save = async (wasLost: boolean) => {
    if (patch) await patchKey(api, name, patch, wasLost)
    return patch !== undefined
  }
  const saving = useChange(save, async (isSaved) => {
    onClose()
    if (!isSaved) return
    notify({ tone: 'good', text: `${name} was changed.` })
    await refresh()
  })
  const change = useLockout(saving, reviewerPatch(accessKey, patch))
  return (
    <Dialog title={`Edit ${name}`} onClose={onClose} isTyped={patch !== undefined} isWide>
      <ChangeForm
        change={change}
        word="Save"
        busyWord="Saving…"
        onSubmit={() => {
          setSubmits(submits + 1)
          if (wrong === undefined) void change.run()
        }}
        onClose={onClose}
      >
        {keyTexts.map((text) => (
          <KeyTextField
            key={text.name}
            label={text.title}
            text={text}
            rows={3}
            value={after[text.name]}
            onInput={(value) => set({ [text.name]: value })}
          />
        ))}
        <LifetimeField
          choice={after}
          hint={lifetimeHint(accessKey.spec.ttlAfterLastActivity === true, endWith(accessKey, after))}
          countError={submits > 0 ? wrong : undefined}
          onChange={set}
        />
        <SourcesField label="May be used from" value={after.sources} onInput={(sources) => set({ sources })} />
      </ChangeForm>
    </Dialog>
  )
}

function lifetimeHint(isSliding: boolean, end: number | undefined): string {
  const from = `Counted from its ${isSliding ? 'last use' : 'creation'}.`
  if (end === undefined) return from
  return `${from} It ${end <= Date.now() ? 'would have expired' : 'expires'} ${exact(new Date(end))}.`
}
