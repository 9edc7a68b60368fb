import { TextField } from './textfield.tsx'

/** Asks why keys are disabled. */
export const ReasonField = (field: { value: string; onInput(value: string): void }) => (
  <TextField label="Reason" hint="Everybody who may read the key sees it." isProse maxLength={256} {...field} />
)
