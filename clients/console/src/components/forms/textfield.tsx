import { Field, type FieldTexts } from './field.tsx'

export interface TextFieldProps extends FieldTexts {
  value: string
  /** The name of the field in problems. */
  name?: string
  placeholder?: string | undefined
  /** Texts to choose from. */
  offered?: readonly string[] | undefined
  onInput(value: string): void
}

/** Shows a field for a text that programs read, such as a name: browsers neither complete nor correct it. */
export function TextField({ value, name, placeholder, offered, onInput, ...texts }: TextFieldProps) {
  return (
    <Field {...texts}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            data-field={name}
            value={value}
            placeholder={placeholder}
            list={offered && `${attributes.id}-offered`}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          {offered && (
            <datalist id={`${attributes.id}-offered`}>
              {offered.map((one) => (
                <option value={one} key={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}
