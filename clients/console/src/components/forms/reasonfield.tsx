import { Field } from './field.tsx'

/** Asks why keys are disabled. */
export const ReasonField = ({ value, onInput }: { value: string; onInput(value: string): void }) => (
  <Field label="Reason" hint="Everybody who may read the key sees it.">
    {(attributes) => (
      <input {...attributes} value={value} maxLength={256} onInput={(event) => onInput(event.currentTarget.value)} />
    )}
  </Field>
)
