import { useEffect } from 'preact/hooks'
import { GetStarted } from '../../components/getstarted/getstarted.tsx'
import { showAgain } from '../../components/getstarted/remembered.ts'
import { useKeys } from '../../components/hooks/usekeys.ts'
import { Fresh, Page } from '../../components/page.tsx'

/** Shows what to do first, and shows it above the keys again if it was dismissed there. */
export function GetStartedPage() {
  const keys = useKeys()
  useEffect(showAgain, [])
  return (
    <Page title="Get started" about="What to do first with a new deployment, as far as your key allows it.">
      <Fresh polled={keys}>{({ items }) => <GetStarted keys={items} isPage />}</Fresh>
    </Page>
  )
}
