import type { ComponentChildren } from 'preact'
import type { Provider } from '../../api/trusts.ts'
import { Check } from '../../components/forms/check.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { ScopePicker } from '../../components/scope/scopepicker.tsx'
import { lifetimeWords } from '../../text/lifetime.ts'
import { visible } from '../../text/visible.ts'
import { claimFields, type Draft, needsOwner, type OwnerKind, type Problems } from './draft.ts'
import type { ClaimField } from './platforms/platforms.ts'

export interface FieldsProps {
  draft: Draft
  problems: Problems
  change(part: Partial<Draft>): void
}

const Group = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <fieldset class="stack">
    <legend>{title}</legend>
    {children}
  </fieldset>
)

export interface ProviderFieldsProps extends FieldsProps {
  /** Those of the platform that the person may use. */
  providers: readonly Provider[]
  choose(name: string): void
  isMaster: boolean
}

/** Which provider, or what a new one needs. */
export function ProviderFields({ draft, problems, change, providers, choose, isMaster }: ProviderFieldsProps) {
  const { provider, newProvider } = draft
  const { owner, issuerHint, keysHint } = draft.platform
  const names = new Set([...providers.map(({ metadata }) => metadata.name), ...(provider ? [provider] : [])])
  const set = (part: Partial<Draft['newProvider']>) => change({ newProvider: { ...newProvider, ...part } })
  const text = (member: 'name' | 'issuer' | 'owner' | 'jwks', field: string, label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      error={problems[field]}
      value={newProvider[member]}
      onInput={(value) => set({ [member]: value })}
    />
  )
  return (
    <Group title="Identity provider">
      {names.size > 0 && (
        <SelectField
          label="Provider"
          error={problems.provider}
          options={[...[...names].map((name) => [name, visible(name)] as const), ['', 'A new one']]}
          value={provider}
          onChange={choose}
        />
      )}
      {provider === '' && (
        <>
          {!isMaster && (
            <p class="hint">
              Only administrators can create identity providers. Fill in the form, and give them the YAML.
            </p>
          )}
          {text('name', 'providerName', 'Name of the provider')}
          {text('issuer', 'issuer', 'Issuer', issuerHint ?? 'Change it for your own instance.')}
          {owner &&
            text('owner', 'organization', needsOwner(draft) ? owner.label : `${owner.label} (optional)`, owner.hint)}
          {keysHint && text('jwks', 'keys', 'Public keys (JSON)', keysHint)}
          <Check checked={newProvider.isForAll} onChange={(isForAll) => set({ isForAll })}>
            Everyone with a key may make trusts with it
          </Check>
        </>
      )}
    </Group>
  )
}

/** Which jobs get in. */
export function JobFields({ draft, problems, change }: FieldsProps) {
  const { fields, choice = [] } = draft.platform
  const [chosen] = claimFields(draft).slice(fields.length)
  const input = ({ claim, label, hint, options }: ClaimField) => {
    const shown = { label, hint, error: problems[claim], value: draft.values[claim] ?? '', key: claim }
    const set = (value: string) => change({ values: { ...draft.values, [claim]: value } })
    if (!options) return <TextField {...shown} onInput={set} />
    return <SelectField {...shown} options={options.map((one) => [one, one])} onChange={set} />
  }
  return (
    <Group title="Which jobs get a key">
      {fields.map(input)}
      {chosen && choice.length > 1 && (
        <SelectField
          label="Limited to"
          options={choice.map(({ claim, label }) => [claim, `One ${label.replace(' UUID', '').toLowerCase()}`])}
          value={chosen.claim}
          onChange={(claim) => change({ choice: claim })}
        />
      )}
      {chosen && input(chosen)}
    </Group>
  )
}

const OWNERS: readonly (readonly [OwnerKind | '', string])[] = [
  ['', 'Me'],
  ['team', 'A team'],
  ['user', 'A user'],
  ['subject', 'A subject'],
]

interface OwnerFieldsProps extends FieldsProps {
  isMaster: boolean
  groups: readonly string[] | undefined
}

/** Whose keys the jobs get. Only administrators name other users and subjects. */
export function OwnerFields({ isMaster, groups, ...fields }: OwnerFieldsProps) {
  const { draft, change } = fields
  const kinds = isMaster ? OWNERS : OWNERS.slice(0, 2)
  const ownTeam = groups?.find((group) => group.startsWith('team:'))?.slice('team:'.length) ?? ''
  return (
    <Group title="Whose key it is">
      <SelectField
        label="Owner"
        options={kinds}
        value={draft.ownerKind}
        onChange={(kind) => change({ ownerKind: kind, owner: kind === 'team' ? ownTeam : '' })}
      />
      {draft.ownerKind !== '' && <Text {...fields} of="owner" label="Name of the owner" />}
      <Text
        {...fields}
        of="name"
        label="Name of the trust"
        hint="Such as shop-deploy. Its keys have names that begin with it."
      />
      <DisplayName {...fields} />
    </Group>
  )
}

interface TextProps extends FieldsProps {
  of: 'owner' | 'name' | 'displayName'
  label: string
  hint?: string
}

const Text = ({ draft, problems, change, of, ...texts }: TextProps) => (
  <TextField {...texts} error={problems[of]} value={draft[of]} onInput={(text) => change({ [of]: text })} />
)

export const DisplayName = (fields: FieldsProps) => (
  <Text {...fields} of="displayName" label="Display name (optional)" />
)

/** Seconds. */
const LIFETIMES = [900, 1800, 3600, 7200, 14_400]

/** What the keys may do, and for how long. */
export function RightsFields({
  draft,
  problems,
  change,
  most = Number.POSITIVE_INFINITY,
}: FieldsProps & { most: number | undefined }) {
  return (
    <Group title="What it may do">
      <ScopePicker rows={draft.rows} problem={(field) => problems[field]} onChange={(rows) => change({ rows })} />
      {problems.scope && <p class="error">{problems.scope}</p>}
      <SelectField
        label="Valid for"
        hint="A job that takes longer exchanges another ID token."
        error={problems.ttl}
        options={[...new Set([...LIFETIMES.filter((ttl) => ttl <= most), draft.ttl])].map((ttl) => [
          ttl,
          lifetimeWords(ttl),
        ])}
        value={draft.ttl}
        onChange={(ttl) => change({ ttl })}
      />
      <Check checked={draft.tokensOnly} onChange={(tokensOnly) => change({ tokensOnly })}>
        Tokens of clusters only, and no access keys
      </Check>
    </Group>
  )
}
