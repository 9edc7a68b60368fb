import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../dialog.tsx'
import { type DeletionProps, useDeletion } from '../hooks/usedeletion.ts'
import { ChangeForm } from './changeform.tsx'
import { Field } from './field.tsx'
import { useLockout } from './uselockout.tsx'

export interface DeleteDialogProps extends DeletionProps {
  /** What the deletion is called. */
  word?: string
  /** What is deleted, such as `key`. */
  noun: string
  mayReview?: boolean | undefined
  /** What the deletion means. */
  children: ComponentChildren
}

/** Deletes an object once its name was typed. */
export function DeleteDialog({ word = 'Delete', noun, mayReview, children, ...deletion }: DeleteDialogProps) {
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
    <Dialog title={`${word} ${name}`} onClose={deletion.onClose}>
      {children}
      <ChangeForm
        change={change}
        word={`${word} the ${noun}`}
        busyWord="Deleting…"
        tone="danger"
        onSubmit={submit}
        onClose={deletion.onClose}
      >
        <Field label={`Type ${name} to confirm`} error={wrong}>
          {(attributes) => (
            <input {...attributes} ref={input} autoComplete="off" autoCapitalize="off" spellcheck={false} />
          )}
        </Field>
      </ChangeForm>
    </Dialog>
  )
}
