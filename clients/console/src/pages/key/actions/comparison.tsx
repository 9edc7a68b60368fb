import { scopeWords } from '../../../../../../lib/access/scopes/words.ts'
import type { Scope } from '../../../../../core/src/objects.ts'
import { scopeDiff } from '../../../../../core/src/scopechange.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { viewWords } from '../../../text/scopeentries.ts'

/** Says what a key may do now and afterwards, and which entries of its scope come and go. */
export function Comparison({ before, after }: { before: Scope | undefined; after: Scope | undefined }) {
  const lines = scopeDiff(before, after)
  const view = viewWords(before, after)
  return (
    <section class="comparison" aria-label="What changes">
      <p>
        Now: <Foreign text={scopeWords(before)} />.
      </p>
      <p role="status">
        After: <Foreign text={scopeWords(after)} />.
      </p>
      {lines.length === 0 && <p class="muted">Nothing changes.</p>}
      <ul class="diff">
        {lines.map((line) => (
          <li class={line.startsWith('+') ? 'added' : 'removed'} key={line}>
            <Foreign text={line} />
          </li>
        ))}
      </ul>
      {view && <p>{view}</p>}
    </section>
  )
}
