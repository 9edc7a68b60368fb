import type { DraftControl } from '../../session/usedraft.ts'
import { Notice } from '../notice.tsx'

/** Says that a form has what the person typed before, and offers to begin anew. */
export const KeptNotice = ({ isKept, restart }: Pick<DraftControl<unknown>, 'isKept' | 'restart'>) =>
  isKept ? (
    <Notice tone="plain" title="You have typed this before.">
      <button type="button" onClick={restart}>
        Start over
      </button>
    </Notice>
  ) : null
