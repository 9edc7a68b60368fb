import { Field, type FieldTexts } from './field.tsx'

export interface TextFieldProps extends FieldTexts {
  value: string
  /** The name of the field in problems. */
  name?: string
  placeholder?: string | undefined
  /** Texts to choose from. */
  offered?: readonly string[] | undefined
  /** The lines that are shown of a text with several. */
  rows?: number | undefined
  /** Whether people read it: browsers correct such a text. */
  isProse?: boolean
  maxLength?: number
  onInput(value: string): void
}

/** Shows a field for a text. Browsers do not complete it. */
export function TextField({ value, name, placeholder, offered, rows, isProse, maxLength, ...rest }: TextFieldProps) {
  const { onInput, ...texts } = rest
  return (
    <Field {...texts}>
      {(attributes) => {
        const control = {
          ...attributes,
          'data-field': name,
          value,
          placeholder,
          maxLength,
          autoComplete: 'off',
          ...(!isProse && ({ autoCapitalize: 'off', spellcheck: false } as const)),
          onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
        } as const
        if (rows) return <textarea {...control} rows={rows} class={isProse ? undefined : 'mono'} />
        return (
          <>
            <input {...control} list={offered && `${attributes.id}-offered`} />
            {offered && (
              <datalist id={`${attributes.id}-offered`}>
                {offered.map((one) => (
                  <option value={one} key={one} />
                ))}
              </datalist>
            )}
          </>
        )
      }}
    </Field>
  )
}
