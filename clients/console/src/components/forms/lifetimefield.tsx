import { LIFETIMES, type LifetimeChoice, UNITS } from '../../text/lifetimechoice.ts'
import { Field, type FieldTexts } from './field.tsx'
import { SelectField } from './selectfield.tsx'

export interface LifetimeFieldProps extends Pick<FieldTexts, 'hint' | 'error'> {
  choice: LifetimeChoice
  /** What is wrong with the number. */
  countError: string | undefined
  onChange(changes: Partial<LifetimeChoice>): void
}

/** Asks how long a key lives. */
export function LifetimeField({ choice, countError, onChange, ...texts }: LifetimeFieldProps) {
  const { lifetime, count, unit } = choice
  return (
    <div class="pair">
      <SelectField
        label="Lifetime"
        {...texts}
        name="lifetime"
        value={lifetime}
        options={LIFETIMES}
        onChange={(one) => onChange({ lifetime: one })}
      />
      {lifetime === 'custom' && (
        <Field label="How long" error={countError}>
          {(attributes) => (
            <div class="duration">
              <input
                {...attributes}
                data-field="count"
                inputMode="numeric"
                autoComplete="off"
                value={count}
                onInput={(event) => onChange({ count: event.currentTarget.value })}
              />
              <select
                aria-label="Unit"
                value={unit}
                onChange={(event) => onChange({ unit: event.currentTarget.value as LifetimeChoice['unit'] })}
              >
                {Object.keys(UNITS).map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </div>
          )}
        </Field>
      )}
    </div>
  )
}
