import { Page } from '../components/page.tsx'
import { LoadFailure, usePart } from '../components/part.tsx'
import type { Route } from '../text/routes.ts'
import type { PageEntry } from './pages.ts'

/** Shows a page as soon as its script is there. */
export function LoadedPage({ entry, route }: { entry: PageEntry; route: Route }) {
  const { Loaded, hasFailed, retry } = usePart(entry.script)
  if (Loaded) return <Loaded route={route} />
  if (!hasFailed) return <p class="loading">Loading…</p>
  return (
    <Page title={entry.title}>
      <LoadFailure what="This page" retry={retry} />
    </Page>
  )
}
