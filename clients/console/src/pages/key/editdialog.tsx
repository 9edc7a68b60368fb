import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../../components/dialog.tsx'
import { ChangeForm } from '../../components/forms/changeform.tsx'
import { Field } from '../../components/forms/field.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { Notice } from '../../components/notice.tsx'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { lifetimeSeconds } from '../../text/lifetime.ts'
import { exact } from '../../text/times.ts'
import type { ActionProps } from './actionprops.ts'
import { draftOf, endWith, patchOf } from './edit.ts'
import { patchKey } from './patchkey.ts'

/** Changes what may change during the life of a key. The scope is not among it: a key for something else is another key. */
export function EditDialog({ accessKey, refresh, onClose }: ActionProps) {
  const { api } = useSession()
  const notify = useNotify()
  const [before] = useState(() => draftOf(accessKey))
  const [draft, setDraft] = useState(before)
  const [isAsked, ask] = useState(false)
  const wasLost = useRef(false)
  const { name } = accessKey.metadata
  const isLifetime = lifetimeSeconds(draft.lifetime) !== undefined
  const end = endWith(accessKey, draft.lifetime)
  const set = (member: keyof typeof draft) => (event: { currentTarget: { value: string } }) => {
    ask(false)
    setDraft({ ...draft, [member]: event.currentTarget.value })
  }
  const isChanged = patchOf(accessKey, before, draft) !== undefined
  const save = async () => {
    const body = patchOf(accessKey, before, draft)
    if (body) await patchKey(api, name, body, wasLost)
    return body !== undefined
  }
  const change = useChange(save, async (isSaved) => {
    onClose()
    if (!isSaved) return
    notify({ tone: 'good', text: `${name} was changed.` })
    await refresh()
  })
  return (
    <Dialog title={`Edit ${name}`} onClose={isChanged ? () => ask(true) : onClose} isSticky={isAsked} isWide>
      <ChangeForm
        change={change}
        word="Save"
        busyWord="Saving…"
        onSubmit={() => isLifetime && void change.run()}
        onClose={onClose}
      >
        <Field label="Display name">
          {(attributes) => <input {...attributes} value={draft.displayName} onInput={set('displayName')} />}
        </Field>
        <Field label="Description">
          {(attributes) => <textarea {...attributes} rows={3} value={draft.description} onInput={set('description')} />}
        </Field>
        <Field
          label="Lifetime"
          hint={lifetimeHint(accessKey.spec.ttlAfterLastActivity === true, end)}
          error={isLifetime ? undefined : 'Write a number and a unit: d, h, m or s.'}
        >
          {(attributes) => <input {...attributes} value={draft.lifetime} onInput={set('lifetime')} placeholder="30d" />}
        </Field>
        <Field
          label="May be used from"
          hint="One address or CIDR on each line, such as 203.0.113.7 or 10.0.0.0/8. Empty: everywhere."
        >
          {(attributes) => <textarea {...attributes} rows={3} value={draft.addresses} onInput={set('addresses')} />}
        </Field>
        {isAsked && <Notice tone="warn" title="Your changes are not saved. Cancel discards them." />}
      </ChangeForm>
    </Dialog>
  )
}

function lifetimeHint(isSliding: boolean, end: number | undefined): string {
  const from = `Counted from its ${isSliding ? 'last use' : 'creation'}, such as 30d or 12h. Empty: it never expires.`
  if (end === undefined) return from
  return `${from} It ${end <= Date.now() ? 'would have expired' : 'expires'} ${exact(new Date(end))}.`
}
