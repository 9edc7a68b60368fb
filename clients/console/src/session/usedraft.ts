import { useState } from 'preact/hooks'
import { type Drafts, draftsOf, keepDraft, keptDraft } from './drafts.ts'
import { useSession } from './session.ts'

export interface DraftControl<T> {
  draft: T
  /** Whether the person typed it before, in an earlier visit or session. */
  isKept: boolean
  change(next: (before: T) => T): void
  /** Forgets the draft, because it was sent or the person wants it no more. The form shows it until it goes. */
  forget(): void
  /** Forgets the draft and begins anew. */
  restart(): void
}

/**
 * Returns what the person has typed into the form with this name, also before the last sign-in, or else `first`. Every form and dialog
 * for texts keeps them here, but for confirmations: these are typed each time.
 */
export function useDraft<T>(name: string, first: () => T): DraftControl<T> {
  const drafts = useDrafts()
  const begin = () => {
    const draft = keptDraft(drafts, name, first())
    return { name, draft: draft ?? first(), isKept: draft !== undefined }
  }
  const [state, setState] = useState(begin)
  const current = state.name === name ? state : begin()
  if (current !== state) setState(current)
  return {
    ...current,
    change: (next) =>
      setState((before) => {
        const draft = next(before.draft)
        if (JSON.stringify(draft) === JSON.stringify(first())) drafts.delete(name)
        else keepDraft(drafts, name, draft)
        return { ...before, draft }
      }),
    forget: () => void drafts.delete(name),
    restart() {
      drafts.delete(name)
      setState({ name, draft: first(), isKept: false })
    },
  }
}

function useDrafts(): Drafts {
  const { self } = useSession()
  const [drafts] = useState(() => draftsOf(self))
  return drafts
}

/** Opens and closes the dialog with this draft. It is open from the beginning if the person typed something into it before. */
export function useDraftDialog(name: string) {
  const drafts = useDrafts()
  return useState(drafts.has(name))
}
