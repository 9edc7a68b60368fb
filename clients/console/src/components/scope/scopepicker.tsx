import { useEffect, useId, useRef } from 'preact/hooks'
import { type KnownClusters, placesIn, unknownPlaces } from '../../../../core/src/words/places.ts'
import { toYaml } from '../../text/yaml.ts'
import { Foreign } from '../foreign.tsx'
import { SelectField } from '../forms/selectfield.tsx'
import { TextField } from '../forms/textfield.tsx'
import { KIND_WORDS, ROLE_HINTS } from './rowwords.ts'
import { KINDS, LIMITABLE, newRow, type RowKind, type ScopeRow, scopeOf } from './scoperows.ts'
import { useClusters } from './useclusters.ts'

const NONE: KnownClusters = { virtualClusters: new Map(), connected: [] }

export interface ScopePickerProps {
  rows: readonly ScopeRow[]
  problem(field: string): string | undefined
  onChange(rows: readonly ScopeRow[]): void
}

/** The entries of the scope, each of which allows something more. */
export function ScopePicker({ rows, problem, onChange }: ScopePickerProps) {
  const { data: known = NONE } = useClusters()
  const list = useRef<HTMLDivElement>(null)
  const add = useRef<HTMLButtonElement>(null)
  const added = useRef<number>(undefined)
  useEffect(() => {
    if (added.current === undefined) return
    list.current?.querySelector<HTMLElement>(`[data-row="${added.current}"] select`)?.focus()
    added.current = undefined
  }, [rows])
  const append = () => {
    added.current = Math.max(0, ...rows.map(({ id }) => id)) + 1
    onChange([...rows, newRow(added.current)])
  }
  return (
    <div class="stack scope-entries" ref={list}>
      {rows.map((row, index) => (
        <Row
          key={row.id}
          row={row}
          number={index + 1}
          known={known}
          problem={problem}
          onChange={(next) => onChange(rows.map((one) => (one === row ? next : one)))}
          onRemove={() => {
            onChange(rows.filter((one) => one !== row))
            add.current?.focus()
          }}
        />
      ))}
      {rows.length === 0 && <p class="hint">An empty scope allows a key only to ask about itself, and discovery.</p>}
      <button type="button" ref={add} onClick={append}>
        Add an entry
      </button>
    </div>
  )
}

interface RowProps {
  row: ScopeRow
  number: number
  /** Those that the person may see: the inputs offer them. */
  known: KnownClusters
  problem(field: string): string | undefined
  onChange(row: ScopeRow): void
  onRemove(): void
}

function Row({ row, number, known: { virtualClusters, connected }, problem, onChange, onRemove }: RowProps) {
  const id = useId()
  const { kind, alone } = row
  const hint = alone ? undefined : kind === 'role' ? roleHint(row.role) : KIND_WORDS[kind][1]
  const projects = [...virtualClusters.keys()]
  const names = virtualClusters.get(row.project.trim()) ?? []
  const unknown = unknownPlaces(placesIn(scopeOf([row])), virtualClusters)
  const part = (member: Part, label: string, offered: readonly string[] = []) => (
    <TextField
      label={label}
      name={`${row.id}.${member}`}
      value={row[member]}
      offered={offered.length > 0 ? offered : undefined}
      error={problem(`${row.id}.${member}`)}
      onInput={(value) => onChange({ ...row, [member]: value })}
    />
  )
  const fields = (
    <>
      <SelectField
        label="Allows"
        value={kind}
        options={KINDS.map((one) => [one, KIND_WORDS[one][0]])}
        onChange={(one: RowKind) => onChange({ ...row, kind: one })}
      />
      {(kind === 'project' || kind === 'virtualCluster' || kind === 'space') && part('project', 'Project', projects)}
      {kind === 'virtualCluster' && part('name', 'Virtual cluster', names)}
      {kind === 'space' && part('name', 'Space')}
      {kind === 'cluster' && part('name', 'Connected cluster', connected)}
      {kind === 'role' && (
        <SelectField
          label="Role"
          value={row.role}
          options={Object.keys(ROLE_HINTS).map((one) => [one, one])}
          onChange={(role) => onChange({ ...row, role })}
        />
      )}
      {kind === 'role' && LIMITABLE.includes(row.role) && part('where', 'Only in (optional)')}
      {kind === 'rule' && (
        <>
          {part('verbs', 'Verbs')}
          {part('resources', 'Resources')}
          {part('group', 'API group')}
          {part('names', 'Names')}
          {part('namespaces', 'Namespaces')}
        </>
      )}
    </>
  )
  return (
    <fieldset class="stack row" data-row={row.id} aria-describedby={hint && id}>
      <legend class="hidden">Entry {number}</legend>
      <div class="parts">
        {alone ? <pre>{toYaml(alone)}</pre> : fields}
        <button type="button" class="quiet remove" aria-label={`Remove entry ${number}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      {hint && (
        <p class="hint" id={id}>
          {hint}
        </p>
      )}
      {unknown.length > 0 && (
        <p class="hint" role="status">
          <Foreign text={unknown.join(' ')} />
        </p>
      )}
    </fieldset>
  )
}

const roleHint = (role: string): string =>
  `${ROLE_HINTS[role]}${LIMITABLE.includes(role) ? ' It can be limited to projects, or to virtual clusters as PROJECT/NAME.' : ''}`

type Part = 'project' | 'name' | 'where' | 'verbs' | 'group' | 'resources' | 'names' | 'namespaces'
