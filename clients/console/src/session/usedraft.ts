import { useCallback, useState } from 'preact/hooks'
import { draftsOf } from './drafts.ts'
import { useSession } from './session.ts'

export interface DraftControl<T> {
  draft: T
  /** Whether the person typed it before, in an earlier visit or session. */
  isKept: boolean
  change(next: (before: T) => T): void
  /** Forgets the draft: it was sent, or the person wants it no more. The form shows it until it goes. */
  forget(): void
}

/** Returns what the person has typed into the form with this name, also before the last sign-in, or `first`. */
export function useDraft<T>(name: string, first: () => T): DraftControl<T> {
  const { self } = useSession()
  const [forms] = useState(() => draftsOf(self.subject ?? self.accessKey))
  const [isKept] = useState(() => forms.has(name))
  const [draft, setDraft] = useState<T>(() => (forms.has(name) ? (forms.get(name) as T) : first()))
  const change = useCallback(
    (next: (before: T) => T) =>
      setDraft((before) => {
        const after = next(before)
        forms.set(name, after)
        return after
      }),
    [forms, name],
  )
  const forget = useCallback(() => void forms.delete(name), [forms, name])
  return { draft, isKept, change, forget }
}
