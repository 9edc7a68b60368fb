import { Field } from './field.tsx'

export interface SourcesFieldProps {
  label: string
  /** One address a line. */
  value: string
  error?: string | undefined
  onInput(value: string): void
}

/** Asks for the addresses from which a key may be used. */
export const SourcesField = ({ label, value, error, onInput }: SourcesFieldProps) => (
  <Field
    label={label}
    hint="The only IP addresses and CIDRs from which the key works, one per line. Leave it empty for any address."
    error={error}
  >
    {(attributes) => (
      <textarea
        {...attributes}
        data-field="sources"
        rows={2}
        class="mono"
        placeholder="10.0.0.0/8"
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )}
  </Field>
)
