import type { RefObject } from 'preact'
import { Field, type FieldTexts } from './field.tsx'

/** Asks for the value of an access key, which the browser neither shows nor remembers. */
export const KeyValueField = ({ input, ...texts }: FieldTexts & { input: RefObject<HTMLInputElement | null> }) => (
  <Field {...texts}>
    {(attributes) => (
      <input
        {...attributes}
        ref={input}
        type="password"
        autoComplete="off"
        spellcheck={false}
        autoCapitalize="off"
        placeholder="mpk_…"
      />
    )}
  </Field>
)
