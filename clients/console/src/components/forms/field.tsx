import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** What a field says around its control. */
export interface FieldTexts {
  label: string
  hint?: ComponentChildren
  error?: string | undefined
}

export interface FieldProps extends FieldTexts {
  /** Renders the control with the attributes that connect it to its label, hint and error. */
  children(attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }): ComponentChildren
}

/** Shows a control of a form with its label, hint and error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(described && { 'aria-describedby': described }), ...(error && { 'aria-invalid': true }) })}
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class="error">
          {error}
        </p>
      )}
    </div>
  )
}
