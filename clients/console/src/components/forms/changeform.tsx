import type { ComponentChildren } from 'preact'
import type { Change } from '../hooks/usechange.ts'
import { ErrorNotice } from '../notice.tsx'
import { Form } from './form.tsx'

export interface ChangeFormProps {
  change: Change
  /** What the button that sends it says, and what it says meanwhile. */
  word: string
  busyWord?: string
  tone?: 'primary' | 'danger'
  /** By default the change runs. */
  onSubmit?(): void
  onClose(): void
  children?: ComponentChildren
}

/** Shows the form of a dialog that changes something: its fields, why the change failed, and the buttons. */
export function ChangeForm({ change, word, busyWord = word, tone = 'primary', onClose, ...rest }: ChangeFormProps) {
  const { isBusy, error, asked, run } = change
  const { onSubmit = () => void run(), children } = rest
  return (
    <Form class="stack" onSubmit={onSubmit}>
      {children}
      {asked}
      {error !== undefined && <ErrorNotice error={error} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class={tone} disabled={isBusy}>
          {isBusy ? busyWord : word}
        </button>
      </div>
    </Form>
  )
}
