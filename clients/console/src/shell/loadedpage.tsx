import { useLayoutEffect } from 'preact/hooks'
import { Page } from '../components/page.tsx'
import { LoadFailure, usePart } from '../components/part.tsx'
import type { Route } from '../text/routes.ts'
import type { PageEntry } from './pages.ts'

/** Shows a page as soon as its script is there. */
export function LoadedPage({ entry, route, onShown }: { entry: PageEntry; route: Route; onShown(): void }) {
  const { Loaded, hasFailed, retry } = usePart(entry.script)
  const isLoaded = Loaded !== undefined
  useLayoutEffect(() => {
    if (isLoaded) onShown()
  }, [isLoaded, onShown])
  if (Loaded) return <Loaded route={route} />
  if (!hasFailed) return <p class="loading">Loading…</p>
  return (
    <Page title={entry.title}>
      <LoadFailure what="This page" retry={retry} />
    </Page>
  )
}
