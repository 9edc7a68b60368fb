import { Field, type FieldTexts } from './field.tsx'

export interface SelectFieldProps<Value extends string | number> extends FieldTexts {
  value: Value
  options: readonly (readonly [value: Value, words: string])[]
  /** The name of the field in problems. */
  name?: string
  onChange(value: Value): void
}

/** Shows a choice of one of the options. */
export function SelectField<Value extends string | number>(props: SelectFieldProps<Value>) {
  const { value: chosen, options, name, onChange, ...texts } = props
  return (
    <Field {...texts}>
      {(attributes) => (
        <select
          {...attributes}
          data-field={name}
          value={chosen}
          onChange={({ currentTarget }) => {
            const option = options[currentTarget.selectedIndex]
            if (option) onChange(option[0])
          }}
        >
          {options.map(([value, words]) => (
            <option value={value} key={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
