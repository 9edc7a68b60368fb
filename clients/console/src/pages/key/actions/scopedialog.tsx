import { useEffect, useState } from 'preact/hooks'
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { paths } from '../../../api/paths.ts'
import { ApiError } from '../../../api/status.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import { useChange } from '../../../components/hooks/usechange.ts'
import { Notice } from '../../../components/notice.tsx'
import { OwnKey } from '../../../components/ownkey.tsx'
import { ScopePicker } from '../../../components/scope/scopepicker.tsx'
import { scopeProblems } from '../../../components/scope/scoperows.ts'
import { useSession } from '../../../session/session.ts'
import { isSame } from '../../../text/same.ts'
import type { ActionProps } from './actionprops.ts'
import { Comparison } from './comparison.tsx'
import { editedScope, refusedRows, type ScopeEdit, scopeEditOf } from './scopeedit.ts'
import { changeTo } from './scopestep.ts'
import { useScopeChange } from './usescopechange.ts'

export interface ScopeDialogProps extends ActionProps {
  /** What the dialog begins with in place of the scope of the key, and what it is. */
  suggested?: { scope: Scope | undefined; about: string }
}

/** Changes what the key may do, after a dry run, and says before what it gains and what it loses. A suggestion is checked at once. */
export function ScopeDialog({ accessKey, suggested, refresh, onClose }: ScopeDialogProps) {
  const { api } = useSession()
  const [seen, setSeen] = useState(accessKey)
  const { name } = seen.metadata
  const first = suggested ? suggested.scope : accessKey.spec.scope
  const [edit, setEdit] = useState(() => scopeEditOf(first))
  const [submits, setSubmits] = useState(0)
  const [isEmptyMeant, setEmptyMeant] = useState(false)
  const { isScoped, rows } = edit
  const scope = editedScope(edit)
  const next = isSame(scope, seen.spec.scope) ? undefined : changeTo(seen, scope)
  const isEmpty = scope !== undefined && Object.keys(scope).length === 0
  const own = isScoped ? scopeProblems(rows) : []
  const set = (changes: Partial<ScopeEdit>) => setEdit((before) => ({ ...before, ...changes }))
  const done = `What ${name} may do was changed.`
  const { change, checked } = useScopeChange({ accessKey: seen, refresh, onClose }, next, done)
  useEffect(() => void (suggested && next && change.run()), [])
  const refused = refusedRows(change.error, rows)
  const shown = submits > 0 ? [...own, ...refused] : []
  useEffect(() => document.querySelector<HTMLElement>('dialog [aria-invalid]')?.focus(), [submits, refused.length])
  const isConflict = change.error instanceof ApiError && change.error.code === 409
  const readAgain = useChange(() => api.send<AccessKey>(paths.key(name)), setSeen)
  return (
    <Dialog title={`What ${name} may do`} onClose={onClose} isTyped={!isSame(scope, first)} isWide>
      <OwnKey name={name} text="The console can do only what the scope of this key allows." />
      {suggested && <p>{suggested.about}</p>}
      <ChangeForm
        change={refused.length > 0 ? { ...change, error: undefined } : change}
        word={checked || !next ? 'Save' : 'Check'}
        busyWord={checked ? 'Saving…' : 'Checking…'}
        onSubmit={() => {
          setSubmits(submits + 1)
          if (own.length === 0 && (!isEmpty || isEmptyMeant)) void change.run()
        }}
        onClose={onClose}
      >
        <fieldset>
          <legend class="hidden">Scope</legend>
          {[true, false].map((one) => (
            <label class="check" key={String(one)}>
              <input type="radio" name="scoped" checked={isScoped === one} onChange={() => set({ isScoped: one })} />
              {one ? 'Only what the entries below allow' : 'Everything that its owner and groups may'}
            </label>
          ))}
          {isScoped && (
            <ScopePicker
              rows={rows}
              problem={(field) => shown.find((one) => one.field === field)?.text}
              onChange={(rows) => set({ rows })}
            />
          )}
        </fieldset>
        <Comparison before={seen.spec.scope} after={scope} />
        {isEmpty && (
          <Notice tone="warn" title="The scope is empty">
            <label class="check">
              <input
                type="checkbox"
                checked={isEmptyMeant}
                aria-invalid={submits > 0 && !isEmptyMeant ? true : undefined}
                onChange={(event) => setEmptyMeant(event.currentTarget.checked)}
              />
              Yes, the key may do nothing
            </label>
          </Notice>
        )}
        {checked && !change.error && <Notice tone="good" title="The server would save this. Nothing is saved yet." />}
        {isConflict && (
          <p>
            Nothing was saved, because the key is not as you saw it.{' '}
            <button type="button" disabled={readAgain.isBusy} onClick={() => void readAgain.run()}>
              Compare with what it may do now
            </button>
          </p>
        )}
      </ChangeForm>
    </Dialog>
  )
}
