import { scopeWords } from '../../../../../../lib/access/scopes/words.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { useNow } from '../../../components/hooks/usenow.ts'
import { Time } from '../../../components/time.tsx'
import type { KeyProps } from '../actions/actionprops.ts'
import { ScopeButton } from '../actions/scopebutton.tsx'
import { Bullets } from './bullets.tsx'

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
