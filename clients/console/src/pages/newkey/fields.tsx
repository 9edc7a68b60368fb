import { displayName, type KeyText, otherTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { Self } from '../../../../core/src/objects.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Check } from '../../components/forms/check.tsx'
import { KeyTextField } from '../../components/forms/keytextfield.tsx'
import { LifetimeField } from '../../components/forms/lifetimefield.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { SourcesField } from '../../components/forms/sourcesfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { Notice } from '../../components/notice.tsx'
import { ScopePicker } from '../../components/scope/scopepicker.tsx'
import { type KeyForm, NAME_PREFIX, type OwnerKind, ownGroups, selfName } from './form.ts'

export interface FieldsProps {
  form: KeyForm
  self: Self
  problem(field: string): string | undefined
  onChange(changes: Partial<KeyForm>): void
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
        <KeyTextOf {...props} text={displayName} />
      </div>
      {otherTexts.map((text) => (
        <KeyTextOf {...props} key={text.name} text={text} />
      ))}
      <Labels {...props} />
      <OwnerFields {...props} />
      <ScopeFields {...props} />
      <LifetimeFields {...props} />
      <SourcesField
        label="May be used from (optional)"
        error={problem('sources')}
        value={form.sources}
        onInput={(sources) => onChange({ sources })}
      />
    </>
  )
}

/** Asks for a free text. */
const KeyTextOf = ({ form, problem, onChange, text }: FieldsProps & { text: KeyText }) => (
  <KeyTextField
    label={`${text.title} (optional)`}
    hint={text.hint}
    error={problem(text.name)}
    text={text}
    rows={2}
    value={form[text.name]}
    onInput={(value) => onChange({ [text.name]: value })}
  />
)

/** The labels are those of another key: the form has none by itself. */
function Labels({ form: { labels }, onChange }: FieldsProps) {
  const all = Object.entries(labels).map((one) => one.join('='))
  if (all.length === 0) return null
  return (
    <p>
      Labels: <Foreign text={all.join(', ')} />
      <button type="button" class="quiet" onClick={() => onChange({ labels: {} })}>
        Remove the labels
      </button>
    </p>
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
          hint="The key cannot do more than its owner."
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
            <Check
              checked={groups.includes(group)}
              onChange={(checked) =>
                onChange({ groups: checked ? [...groups, group] : groups.filter((one) => one !== group) })
              }
              key={group}
            >
              <span>
                <Foreign text={group} />
                {group === 'system:masters' && <span class="hint"> — administrators, who may do everything</span>}
              </span>
            </Check>
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
      {[true, false].map((isScoped) => (
        <label class="check" key={String(isScoped)}>
          <input
            type="radio"
            name="scoped"
            checked={form.isScoped === isScoped}
            onChange={() => onChange({ isScoped })}
          />
          {isScoped ? 'Only what I choose' : 'Everything the owner may'}
        </label>
      ))}
      {form.isScoped && <ScopePicker rows={form.rows} problem={problem} onChange={(rows) => onChange({ rows })} />}
      {problem('scope') && <p class="error">{problem('scope')}</p>}
    </fieldset>
  )
}

function LifetimeFields({ form, problem, onChange }: FieldsProps) {
  return (
    <div class="field">
      <LifetimeField choice={form} error={problem('lifetime')} countError={problem('count')} onChange={onChange} />
      {form.lifetime === 'never' ? (
        <Notice tone="warn" title="A copy of a key that never ends works until somebody notices.">
          <p>
            Let it expire, and rotate it before then. Or exchange ID tokens for short-lived keys, where the platform has
            them.
          </p>
        </Notice>
      ) : (
        <Check checked={form.isFromLastUse} onChange={(isFromLastUse) => onChange({ isFromLastUse })}>
          Count from the last use: a key in use does not expire
        </Check>
      )}
    </div>
  )
}
