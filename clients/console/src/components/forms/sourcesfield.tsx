import { TextField, type TextFieldProps } from './textfield.tsx'

/** Asks for the addresses from which a key may be used, one a line. */
export const SourcesField = (field: Pick<TextFieldProps, 'label' | 'value' | 'error' | 'onInput'>) => (
  <TextField
    hint="The only IP addresses and CIDRs from which the key works, one per line. Leave it empty for any address."
    name="sources"
    rows={2}
    placeholder="10.0.0.0/8"
    {...field}
  />
)
