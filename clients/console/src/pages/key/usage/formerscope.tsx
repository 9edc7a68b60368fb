import { useState } from 'preact/hooks'
import { scopeWords } from '../../../../../../lib/access/scopes/words.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { useNow } from '../../../components/hooks/usenow.ts'
import { DialogPart, part, usePreload } from '../../../components/part.tsx'
import { Time } from '../../../components/time.tsx'
import type { KeyProps } from '../actions/actionprops.ts'
import type { ScopeDialogProps } from '../actions/scopedialog.tsx'
import { Bullets } from './bullets.tsx'

const scopeDialog = part(async () => (await import('../actions/scopedialog.tsx')).ScopeDialog)
const dropDialog = part(async () => (await import('../actions/dropdialog.tsx')).DropDialog)

export type ScopeButtonProps = Omit<ScopeDialogProps, 'onClose'> & { word: string }

/** A button that opens the dialog of the scope with what it suggests, or the one that drops what was added, for the key as it is then. */
export function ScopeButton({ word, ...props }: ScopeButtonProps) {
  const [seen, setSeen] = useState<ScopeDialogProps>()
  const onClose = () => setSeen(undefined)
  usePreload(scopeDialog, dropDialog)
  return (
    <>
      <div class="actions">
        <button type="button" onClick={() => setSeen({ ...props, onClose })}>
          {word}
        </button>
      </div>
      {seen &&
        (seen.suggested ? <DialogPart dialog={scopeDialog} {...seen} /> : <DialogPart dialog={dropDialog} {...seen} />)}
    </>
  )
}

/** Offers the scope before the last change, and shows the scopes that changes have added. */
export function FormerScopeCard(key: KeyProps) {
  const now = useNow()
  const { formerScope: former, addedScopes: added = [] } = key.accessKey.status ?? {}
  const hasFormer = former !== undefined && !(Date.parse(former.until ?? '') <= now.getTime())
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
                The server forgets this scope <Time at={former.until} direction="future" />.
              </>
            )}
          </p>
          <ScopeButton
            word="Put the former scope back"
            suggested={{
              scope: former.scope,
              about: 'The key gets the scope that it had before the last change. Its recorded usage stays.',
            }}
            {...key}
          />
        </>
      )}
      {added.length > 0 && (
        <>
          <p>Changes with scoped access keys have added scopes, which limit the key besides its own:</p>
          <Bullets texts={added.map(scopeWords)} />
          <ScopeButton word="Drop the added scopes" {...key} />
        </>
      )}
    </section>
  )
}
