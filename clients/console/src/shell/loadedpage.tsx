import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import type { Route } from '../text/routes.ts'
import type { PageComponent, PageEntry } from './pages.ts'

const loaded = new Map<PageEntry['load'], PageComponent>()

/** Loads the script of a page, unless it is there. */
export async function loadPage({ load }: PageEntry): Promise<void> {
  if (!loaded.has(load)) loaded.set(load, await load())
}

/** Shows a page as soon as its script is there. */
export function LoadedPage({ entry, route, onShown }: { entry: PageEntry; route: Route; onShown(): void }) {
  const Component = loaded.get(entry.load)
  const [attempt, again] = useState(0)
  const [hasFailed, setFailed] = useState(false)
  const isLoaded = Component !== undefined
  useEffect(() => {
    if (isLoaded) return onShown()
    let isWanted = true
    loadPage(entry).then(
      () => isWanted && again((count) => count + 1),
      () => isWanted && setFailed(true),
    )
    return () => {
      isWanted = false
    }
  }, [isLoaded, attempt, entry, onShown])
  if (Component) return <Component route={route} />
  if (!hasFailed) return <p class="loading">Loading…</p>
  const retry = () => {
    setFailed(false)
    again((count) => count + 1)
  }
  return (
    <Page title={entry.title}>
      <Notice tone="bad" title="This page could not be loaded.">
        <p>The network failed, or there is a new version of the console. If it fails again, reload the console.</p>
        <button type="button" onClick={retry}>
          Try again
        </button>
      </Notice>
    </Page>
  )
}
