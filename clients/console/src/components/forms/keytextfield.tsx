import type { KeyText } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { TextField, type TextFieldProps } from './textfield.tsx'

/** Asks for a free text of an access key. */
export const KeyTextField = ({ text, rows, ...field }: Omit<TextFieldProps, 'name'> & { text: KeyText }) => (
  <TextField name={text.name} rows={text.isLong ? rows : undefined} isProse {...field} />
)
