import { useEffect, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../../core/src/objects.ts'
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
import { editedScope, isOther, refusedRows, type ScopeEdit, scopeEditOf } from './scopeedit.ts'
import { changeTo } from './scopestep.ts'
import { useScopeChange } from './usescopechange.ts'

/** Changes what the key may do, after a dry run, and says before what it gains and what it loses. */
export function ScopeDialog({ accessKey, refresh, onClose }: ActionProps) {
  const { api } = useSession()
  const [seen, setSeen] = useState(accessKey)
  const { name } = seen.metadata
  const [edit, setEdit] = useState(() => scopeEditOf(accessKey))
  const [submits, setSubmits] = useState(0)
  const [isEmptyMeant, setEmptyMeant] = useState(false)
  const scope = editedScope(edit)
  const next = isSame(scope, seen.spec.scope) ? undefined : changeTo(seen, scope)
  const isEmpty = edit.isScoped && edit.rows.length === 0
  const own = edit.isScoped ? scopeProblems(edit.rows) : []
  const set = (changes: Partial<ScopeEdit>) => setEdit((before) => ({ ...before, ...changes }))
  const done = `What ${name} may do was changed.`
  const { change, checked } = useScopeChange({ accessKey: seen, refresh, onClose }, next, done)
  const refused = refusedRows(change.error, edit.rows)
  const shown = submits > 0 ? [...own, ...refused] : []
  useEffect(() => document.querySelector<HTMLElement>('dialog [aria-invalid]')?.focus(), [submits, refused.length])
  const isConflict = change.error instanceof ApiError && change.error.code === 409
  const readAgain = useChange(() => api.send<AccessKey>(paths.key(name)), setSeen)
  return (
    <Dialog title={`What ${name} may do`} onClose={onClose} isTyped={next !== undefined} isWide>
      <OwnKey name={name} text="The console can do only what the scope of this key allows." />
      {isOther(seen) && (
        <Notice tone="warn" title="The form cannot show this scope">
          <p>Its entries are not shown below. If you save, the entries below replace all of them.</p>
        </Notice>
      )}
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
          {[true, false].map((isScoped) => (
            <label class="check" key={String(isScoped)}>
              <input
                type="radio"
                name="scoped"
                checked={edit.isScoped === isScoped}
                onChange={() => set({ isScoped })}
              />
              {isScoped ? 'Only what the entries below allow' : 'Everything that its owner and groups may'}
            </label>
          ))}
          {edit.isScoped && (
            <ScopePicker
              rows={edit.rows}
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
