import { useState } from 'preact/hooks'
import { scopeWords } from '../../../../../../lib/access/scopes/words.ts'
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { useNow } from '../../../components/hooks/usenow.ts'
import { DialogPart, part, usePreload } from '../../../components/part.tsx'
import { Time } from '../../../components/time.tsx'
import type { KeyProps } from '../actions/actionprops.ts'
import { type ScopeStep, scopeSteps } from '../actions/scopestep.ts'
import { Bullets } from './bullets.tsx'

const dialog = part(async () => (await import('./scopestepdialog.tsx')).ScopeStepDialog)

export interface StepButtonProps extends KeyProps {
  advised?: Scope
  step: ScopeStep
}

/** A button that opens the dialog of a step. */
export function StepButton({ accessKey, advised, step, refresh }: StepButtonProps) {
  const [seen, setSeen] = useState<{ accessKey: AccessKey; advised?: Scope }>()
  usePreload(dialog)
  return (
    <>
      <div class="actions">
        <button type="button" onClick={() => setSeen({ accessKey, ...(advised && { advised }) })}>
          {scopeSteps[step]}
        </button>
      </div>
      {seen && (
        <DialogPart dialog={dialog} step={step} {...seen} refresh={refresh} onClose={() => setSeen(undefined)} />
      )}
    </>
  )
}

/** Offers the scope before the last change, and shows the scopes that changes have added. */
export function FormerScopeCard({ accessKey, refresh }: KeyProps) {
  const now = useNow()
  const former = accessKey.status?.formerScope
  const hasFormer = former !== undefined && !(Date.parse(former.until ?? '') <= now.getTime())
  const added = accessKey.status?.addedScopes ?? []
  if (!hasFormer && added.length === 0) return null
  return (
    <section class="card" aria-labelledby="former">
      <h2 id="former">{hasFormer ? 'The former scope' : 'Added scopes'}</h2>
      {hasFormer && (
        <>
          <p>
            Before the last change of its scope, the key could do: <Foreign text={scopeWords(former.scope)} />.
            {former.until && (
              <>
                {' '}
                The server keeps this scope for some time, and removes it <Time at={former.until} direction="future" />.
              </>
            )}
          </p>
          <StepButton accessKey={accessKey} step="back" refresh={refresh} />
        </>
      )}
      {added.length > 0 && (
        <>
          <p>Changes with scoped access keys have added scopes, which limit the key besides its own:</p>
          <Bullets texts={added.map(scopeWords)} />
          <StepButton accessKey={accessKey} step="drop" refresh={refresh} />
        </>
      )}
    </section>
  )
}
