import { useEffect } from 'preact/hooks'
import type { Scope } from '../../../../../core/src/objects.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import { Notice } from '../../../components/notice.tsx'
import { OwnKey } from '../../../components/ownkey.tsx'
import type { ActionProps } from '../actions/actionprops.ts'
import { Comparison } from '../actions/comparison.tsx'
import { type ScopeStep, scopeAfter, scopeChange, scopeSteps } from '../actions/scopestep.ts'
import { useScopeChange } from '../actions/usescopechange.ts'

/** What a step does, its button, and what the console says afterwards. */
const WORDS: Readonly<Record<ScopeStep, Record<'about' | 'word' | 'done', string>>> = {
  add: {
    about: 'The key gets an entry of its scope that allows the request, and keeps the others.',
    word: 'Add it',
    done: 'may do more.',
  },
  apply: {
    about:
      'All recorded requests of the key stay allowed. Requests that the scope does not allow get a 403. You can put the former scope back for 30 days.',
    word: 'Use it',
    done: 'has its smaller scope.',
  },
  back: {
    about: 'The key gets the scope that it had before the last change. Its recorded usage stays.',
    word: 'Put it back',
    done: 'has its former scope.',
  },
  drop: {
    about:
      'Changes with scoped access keys have added scopes that limit the key besides its own. The scopes that it was made with stay.',
    word: 'Drop them',
    done: 'is no longer limited by scopes that were added.',
  },
}

export interface ScopeStepDialogProps extends ActionProps {
  step: ScopeStep
  /** The smaller scope of the advice, or the one with the entry. */
  advised?: Scope
}

/** Changes the scope of a key. Sends a dry run first, and what the person confirms then. */
export function ScopeStepDialog({ step, advised, ...props }: ScopeStepDialogProps) {
  const { accessKey, onClose } = props
  const { name } = accessKey.metadata
  const words = WORDS[step]
  const next = scopeChange(accessKey, step, advised)
  const { change, checked } = useScopeChange(props, next, `${name} ${words.done}`)
  useEffect(() => void change.run(), [])
  return (
    <Dialog title={scopeSteps[step]} onClose={onClose} isWide>
      <p>{words.about}</p>
      <OwnKey name={name} text="The console can do only what the scope of this key allows." />
      {step === 'apply' && (
        <Notice tone="warn" title="Rare requests may be missing">
          <p>The record may not include requests that the key makes only once a month.</p>
        </Notice>
      )}
      <ChangeForm
        change={change}
        word={checked ? words.word : 'Check'}
        busyWord={checked ? 'Saving…' : 'Checking…'}
        onClose={onClose}
      >
        {step !== 'drop' && (
          <Comparison
            before={accessKey.spec.scope}
            after={checked ? checked.spec.scope : scopeAfter(accessKey, step, advised)}
          />
        )}
        {checked && change.error === undefined && (
          <Notice tone="good" title="The server would do this. Nothing is changed yet." />
        )}
      </ChangeForm>
    </Dialog>
  )
}
