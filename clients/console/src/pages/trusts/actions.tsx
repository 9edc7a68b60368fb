import { useState } from 'preact/hooks'
import type { Provider, Trust } from '../../api/trusts.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { ErrorNotice } from '../../components/notice.tsx'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'

export interface ActionsProps {
  object: Trust | Provider
  /** The path of the object. */
  path: string
  /** What it is, such as `trust`. */
  noun: string
  /** What deleting it means, beyond its keys. */
  loss: string
  onChange(): void
}

type Act = 'disable' | 'enable' | 'delete'

/** Buttons that disable, enable and delete a trust or a provider, each after a question. */
export function Actions(props: ActionsProps) {
  const { object } = props
  const [act, ask] = useState<Act>()
  const toggle: Act = object.spec.disabled ? 'enable' : 'disable'
  if (object.metadata.deletionTimestamp) return null
  return (
    <>
      <button type="button" onClick={() => ask(toggle)}>
        {object.spec.disabled ? 'Enable' : 'Disable'}
      </button>
      <button type="button" onClick={() => ask('delete')}>
        Delete
      </button>
      {act && <Question {...props} act={act} onClose={() => ask(undefined)} />}
    </>
  )
}

const ENDS = 'The keys of earlier exchanges are refused from the next request on.'

const CONSEQUENCES: Readonly<Record<Act, string>> = {
  disable: `No ID token is exchanged any more. ${ENDS} When you enable it again, those that have not expired are valid again.`,
  enable: 'ID tokens are exchanged again. The keys of earlier exchanges that have not expired are valid again.',
  delete: `${ENDS} The garbage collector deletes them.`,
}

function Question({ object, path, noun, loss, onChange, act, onClose }: ActionsProps & { act: Act; onClose(): void }) {
  const { api } = useSession()
  const notify = useNotify()
  const { name, uid } = object.metadata
  const [typed, type] = useState('')
  const [wrong, setWrong] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const word = act[0]?.toUpperCase() + act.slice(1)

  const run = async () => {
    if (act === 'delete' && typed.trim() !== name) {
      setWrong('This is not its name.')
      return
    }
    setBusy(true)
    setError(undefined)
    try {
      if (act === 'delete') await api.send(path, { method: 'DELETE', body: { preconditions: { uid } } })
      else await api.send(path, { method: 'PATCH', body: { metadata: { uid }, spec: { disabled: act === 'disable' } } })
      notify({ tone: 'good', text: `The ${noun} ${name} is ${act}d.` })
      onClose()
      if (act === 'delete') location.hash = hrefOf('trusts')
      else onChange()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`${word} this ${noun}?`} onClose={onClose}>
      <p>
        <Foreign text={name} />
      </p>
      <p>
        {CONSEQUENCES[act]} {act === 'delete' && loss}
      </p>
      <form
        class="trust-stack"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        {act === 'delete' && (
          <Field label="Its name" hint="Type the name to delete it." error={wrong}>
            {(attributes) => (
              <input
                {...attributes}
                value={typed}
                autoComplete="off"
                spellcheck={false}
                autoCapitalize="off"
                onInput={(event) => type(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={act === 'enable' ? 'primary' : 'danger'} disabled={isBusy}>
            {word}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
