/** Loads parts of a page that its first sight does without, such as dialogs. Each is a script of its own. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { Notice } from './notice.tsx'

export interface Part<P> {
  load(): Promise<ComponentType<P>>
  /** What has been loaded, which later visits show at once. */
  loaded?: ComponentType<P>
}

/** Returns a part that the function loads. */
export const part = <P,>(load: () => Promise<ComponentType<P>>): Part<P> => ({ load })

/** Loads the part, unless it is there. */
export async function loadPart<P>(one: Part<P>): Promise<void> {
  one.loaded ??= await one.load()
}

/** Loads parts as soon as the page is drawn, so that they open at once, also when the network has failed since. */
export function usePreload(...parts: readonly { load(): Promise<unknown>; loaded?: unknown }[]): void {
  useEffect(() => {
    // Whoever opens one sees the failure.
    for (const one of parts) loadPart(one as Part<unknown>).catch(() => {})
  }, parts)
}

interface Loading<P> {
  Loaded: ComponentType<P> | undefined
  hasFailed: boolean
  retry(): void
}

/** Loads a part now. */
export function usePart<P>(one: Part<P>): Loading<P> {
  const [attempt, setAttempt] = useState(0)
  const [failedAt, setFailedAt] = useState(-1)
  const { loaded } = one
  const isLoaded = loaded !== undefined
  useEffect(() => {
    // What was drawn counts: the script may have come since, and then the part is still to be drawn.
    if (isLoaded) return
    let isWanted = true
    loadPart(one).then(
      () => isWanted && setAttempt((count) => count + 1),
      () => isWanted && setFailedAt(attempt),
    )
    return () => {
      isWanted = false
    }
  }, [one, attempt, isLoaded])
  return {
    Loaded: loaded,
    hasFailed: failedAt === attempt,
    retry: () => setAttempt(attempt + 1),
  }
}

/** Says that a script could not be loaded, and offers to try again. */
export const LoadFailure = ({ what, retry }: { what: string; retry(): void }) => (
  <Notice tone="bad" title={`${what} could not be loaded.`}>
    <p>The network failed, or the console has a new version. If it fails again, reload the page.</p>
    <button type="button" onClick={retry}>
      Try again
    </button>
  </Notice>
)

/** Shows a dialog that is a part. Until it is there, nothing shows: the person still sees the page. */
export function DialogPart<P extends { onClose(): void }>({ dialog, ...props }: { dialog: Part<P> } & P) {
  const { Loaded, hasFailed, retry } = usePart(dialog)
  if (Loaded) return <Loaded {...(props as unknown as P)} />
  if (!hasFailed) return null
  return (
    <Dialog title="Not loaded" onClose={props.onClose}>
      <LoadFailure what="This dialog" retry={retry} />
    </Dialog>
  )
}

/** Shows a part in its place. `what` names it if it could not be loaded. A part without a name is one that nobody would miss. */
export function InPlace<P extends object>({ of, what, ...props }: { of: Part<P>; what?: string } & P) {
  const { Loaded, hasFailed, retry } = usePart(of)
  if (Loaded) return <Loaded {...(props as unknown as P)} />
  return hasFailed && what !== undefined ? <LoadFailure what={what} retry={retry} /> : null
}
