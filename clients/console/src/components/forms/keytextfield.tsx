import type { KeyText } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { Field, type FieldTexts } from './field.tsx'

export interface KeyTextFieldProps extends FieldTexts {
  text: KeyText
  /** The lines that are shown of a text with several. */
  rows: number
  value: string
  onInput(value: string): void
}

/** Asks for a free text of an access key. */
export const KeyTextField = ({ text: { name, isLong }, rows, value, onInput, ...texts }: KeyTextFieldProps) => (
  <Field {...texts}>
    {(attributes) => {
      const control = {
        ...attributes,
        'data-field': name,
        value,
        onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
      }
      return isLong ? <textarea {...control} rows={rows} /> : <input {...control} autoComplete="off" />
    }}
  </Field>
)
