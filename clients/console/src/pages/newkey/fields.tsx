import type { Self } from '../../api/objects.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Field } from '../../components/forms/field.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { Notice } from '../../components/notice.tsx'
import { ScopePicker } from '../../components/scope/scopepicker.tsx'
import { type Form, LIFETIMES, NAME_PREFIX, type OwnerKind, ownGroups, UNITS } from './form.ts'
import { selfName } from './sentence.ts'

export interface FieldsProps {
  form: Form
  self: Self
  problem(field: string): string | undefined
  onChange(changes: Partial<Form>): void
}

/** The fields of a new key. Each control has `data-field`, the name of its field in problems. */
export function Fields(props: FieldsProps) {
  const { form, problem, onChange } = props
  return (
    <>
      <div class="pair">
        <TextField
          label="Name (optional)"
          hint={`Programs use it. Without one, the key is called ${NAME_PREFIX}… It cannot be changed.`}
          error={problem('name')}
          name="name"
          value={form.name}
          onInput={(name) => onChange({ name })}
        />
        <Field
          label="Display name (optional)"
          hint="For people, such as CI of the shop."
          error={problem('displayName')}
        >
          {(attributes) => (
            <input
              {...attributes}
              data-field="displayName"
              value={form.displayName}
              autoComplete="off"
              onInput={(event) => onChange({ displayName: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <Field label="Description (optional)" hint="What it is for, and who to ask." error={problem('description')}>
        {(attributes) => (
          <textarea
            {...attributes}
            data-field="description"
            rows={2}
            value={form.description}
            onInput={(event) => onChange({ description: event.currentTarget.value })}
          />
        )}
      </Field>
      <OwnerFields {...props} />
      <ScopeFields {...props} />
      <LifetimeFields {...props} />
      <Field
        label="May be used from (optional)"
        hint="IP addresses and CIDRs from which alone the key works, one a line. Empty: every address."
        error={problem('sources')}
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
            value={form.sources}
            onInput={(event) => onChange({ sources: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  )
}

const OWNERS: readonly [Exclude<OwnerKind, 'self'>, string][] = [
  ['user', 'A user'],
  ['team', 'A team'],
  ['subject', 'Another subject'],
]

function OwnerFields({ form, self, problem, onChange }: FieldsProps) {
  const { ownerKind, groups } = form
  const offered = ownGroups(self)
  return (
    <>
      <div class="pair">
        <SelectField
          label="Acts as"
          hint="What the owner may not do, the key may not do either."
          value={ownerKind}
          options={[['self', `You, ${selfName(self)}`], ...OWNERS]}
          onChange={(kind) => onChange({ ownerKind: kind })}
        />
        {ownerKind !== 'self' && (
          <TextField
            label={`Name of the ${ownerKind}`}
            error={problem('owner')}
            name="owner"
            value={form.owner}
            onInput={(owner) => onChange({ owner })}
          />
        )}
      </div>
      {offered.length > 0 && (
        <fieldset class="field">
          <legend>Groups</legend>
          {offered.map((group) => (
            <label class="check" key={group}>
              <input
                type="checkbox"
                checked={groups.includes(group)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange({ groups: checked ? [...groups, group] : groups.filter((one) => one !== group) })
                }
              />
              <span>
                <Foreign text={group} />
                {group === 'system:masters' && <span class="hint"> — administrators, who may do everything</span>}
              </span>
            </label>
          ))}
          {problem('groups') && <p class="error">{problem('groups')}</p>}
        </fieldset>
      )}
    </>
  )
}

function ScopeFields({ form, problem, onChange }: FieldsProps) {
  return (
    <fieldset class="field">
      <legend>What it may do</legend>
      <label class="check">
        <input type="radio" name="scoped" checked={form.isScoped} onChange={() => onChange({ isScoped: true })} />
        Only what I choose
      </label>
      <label class="check">
        <input type="radio" name="scoped" checked={!form.isScoped} onChange={() => onChange({ isScoped: false })} />
        Everything the owner may
      </label>
      {form.isScoped && <ScopePicker rows={form.rows} problem={problem} onChange={(rows) => onChange({ rows })} />}
      {problem('scope') && <p class="error">{problem('scope')}</p>}
    </fieldset>
  )
}

function LifetimeFields({ form, problem, onChange }: FieldsProps) {
  const { lifetime } = form
  return (
    <div class="field">
      <div class="pair">
        <SelectField
          label="Lifetime"
          error={problem('lifetime')}
          name="lifetime"
          value={lifetime}
          options={LIFETIMES}
          onChange={(one) => onChange({ lifetime: one })}
        />
        {lifetime === 'custom' && (
          <Field label="How long" error={problem('count')}>
            {(attributes) => (
              <div class="duration">
                <input
                  {...attributes}
                  data-field="count"
                  inputMode="numeric"
                  autoComplete="off"
                  value={form.count}
                  onInput={(event) => onChange({ count: event.currentTarget.value })}
                />
                <select
                  aria-label="Unit"
                  value={form.unit}
                  onChange={(event) => onChange({ unit: event.currentTarget.value as Form['unit'] })}
                >
                  {Object.keys(UNITS).map((unit) => (
                    <option key={unit}>{unit}</option>
                  ))}
                </select>
              </div>
            )}
          </Field>
        )}
      </div>
      {lifetime === 'never' ? (
        <Notice tone="warn" title="A copy of a key that never ends works until somebody notices.">
          <p>
            Give it an end, and rotate it before. Or exchange ID tokens for short-lived keys, where the platform has
            them.
          </p>
        </Notice>
      ) : (
        <label class="check">
          <input
            type="checkbox"
            checked={form.isFromLastUse}
            onChange={(event) => onChange({ isFromLastUse: event.currentTarget.checked })}
          />
          Count from the last use: a key in use does not end
        </label>
      )}
    </div>
  )
}
