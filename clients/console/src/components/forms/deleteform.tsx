import { useRef, useState } from 'preact/hooks'
import { type DeletionProps, useDeletion } from '../hooks/usedeletion.ts'
import { ChangeForm } from './changeform.tsx'
import { Field } from './field.tsx'
import { useLockout } from './uselockout.tsx'

/** Deletes an object once its name was typed. `noun` says what it is, such as `key`. */
export function DeleteForm({
  noun,
  mayReview,
  ...deletion
}: DeletionProps & { noun: string; mayReview?: boolean | undefined }) {
  const { name } = deletion.metadata
  const tried = mayReview && { path: deletion.path, call: { method: 'DELETE' } as const, name }
  const change = useLockout(useDeletion(deletion), tried)
  const input = useRef<HTMLInputElement>(null)
  const [wrong, setWrong] = useState<string>()
  const submit = () => {
    if (input.current?.value === name) {
      setWrong(undefined)
      void change.run()
    } else {
      setWrong(`This is not the name of the ${noun}.`)
      input.current?.focus()
    }
  }
  return (
    <ChangeForm
      change={change}
      word={`Delete the ${noun}`}
      busyWord="Deleting…"
      tone="danger"
      onSubmit={submit}
      onClose={deletion.onClose}
    >
      <Field label={`Type ${name} to delete it`} error={wrong}>
        {(attributes) => (
          <input {...attributes} ref={input} autoComplete="off" autoCapitalize="off" spellcheck={false} />
        )}
      </Field>
    </ChangeForm>
  )
}
