import { useEffect, useId, useRef } from 'preact/hooks'
import { placesIn, unknownPlaces } from '../../../../core/src/words/places.ts'
import { Foreign } from '../foreign.tsx'
import { KIND_WORDS, ROLE_HINTS } from './rowwords.ts'
import { KINDS, LIMITABLE, newRow, type RowKind, type ScopeRow, scopeOf } from './scoperows.ts'
import { type KnownClusters, useClusters } from './useclusters.ts'

export interface ScopePickerProps {
  rows: readonly ScopeRow[]
  problem(field: string): string | undefined
  onChange(rows: readonly ScopeRow[]): void
}

/** The entries of the scope, each of which allows something more. */
export function ScopePicker({ rows, problem, onChange }: ScopePickerProps) {
  const known = useClusters()
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
    <div class="scope-entries" ref={list}>
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
  const { kind } = row
  const hint = kind === 'role' ? roleHint(row.role) : KIND_WORDS[kind][1]
  const projects = [...virtualClusters.keys()]
  const names = virtualClusters.get(row.project.trim()) ?? []
  const unknown = unknownPlaces(placesIn(scopeOf([row])), virtualClusters)
  const part = (member: Part, label: string, offered: readonly string[] = []) => (
    <RowPart
      key={member}
      id={`${id}-${member}`}
      field={`${row.id}.${member}`}
      label={label}
      value={row[member]}
      offered={offered}
      hintId={`${id}-hint`}
      problem={problem(`${row.id}.${member}`)}
      onInput={(value) => onChange({ ...row, [member]: value })}
    />
  )
  return (
    <fieldset class="row" data-row={row.id}>
      <legend class="hidden">Entry {number}</legend>
      <div class="parts">
        <div class="part">
          <label for={`${id}-kind`}>Allows</label>
          <select
            id={`${id}-kind`}
            value={kind}
            onChange={(event) => onChange({ ...row, kind: event.currentTarget.value as RowKind })}
          >
            {KINDS.map((one) => (
              <option value={one} key={one}>
                {KIND_WORDS[one][0]}
              </option>
            ))}
          </select>
        </div>
        {(kind === 'project' || kind === 'virtualCluster' || kind === 'space') && part('project', 'Project', projects)}
        {kind === 'virtualCluster' && part('name', 'Virtual cluster', names)}
        {kind === 'space' && part('name', 'Space')}
        {kind === 'cluster' && part('name', 'Connected cluster', connected)}
        {kind === 'role' && (
          <div class="part">
            <label for={`${id}-role`}>Role</label>
            <select
              id={`${id}-role`}
              value={row.role}
              aria-describedby={`${id}-hint`}
              onChange={(event) => onChange({ ...row, role: event.currentTarget.value })}
            >
              {Object.keys(ROLE_HINTS).map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
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
        <button type="button" class="quiet remove" aria-label={`Remove entry ${number}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
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

interface RowPartProps {
  id: string
  field: string
  label: string
  value: string
  offered: readonly string[]
  hintId: string
  problem: string | undefined
  onInput(value: string): void
}

function RowPart({ id, field, label, value, offered, hintId, problem, onInput }: RowPartProps) {
  return (
    <div class="part">
      <label for={id}>{label}</label>
      <input
        type="text"
        id={id}
        data-field={field}
        value={value}
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        aria-describedby={problem ? `${id}-error ${hintId}` : hintId}
        aria-invalid={problem ? true : undefined}
        {...(offered.length > 0 && { list: `${id}-offered` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {offered.length > 0 && (
        <datalist id={`${id}-offered`}>
          {offered.map((one) => (
            <option value={one} key={one} />
          ))}
        </datalist>
      )}
      {problem && (
        <p class="error" id={`${id}-error`}>
          {problem}
        </p>
      )}
    </div>
  )
}
