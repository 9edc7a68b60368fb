import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Foreign } from '../components/foreign.tsx'
import { Page } from '../components/page.tsx'
import { loadPart } from '../components/part.tsx'
import { RevealDialog } from '../components/revealdialog.tsx'
import { SignInPage } from '../pages/signin/signinpage.tsx'
import type { Returned } from '../session/attempt.ts'
import { NoticeContext, type NoticeText } from '../session/notices.ts'
import { RevealContext, type Revealed } from '../session/revealed.ts'
import { SessionContext } from '../session/session.ts'
import { useSessionControl } from '../session/usesession.ts'
import { hrefOf, type Route } from '../text/routes.ts'
import { Boundary } from './boundary.tsx'
import { Ending } from './ending.tsx'
import { Header } from './header.tsx'
import { LoadedPage } from './loadedpage.tsx'
import { pageOf } from './pages.ts'
import { useRoute } from './useroute.ts'

/** How long a notice stays, in milliseconds. Warnings and errors stay until they are dismissed. */
const NOTICE_MS = 6000

/** Shows the whole console. Notices and the dialog of a value that is shown once are outside of the session, so the dialog outlives it. */
export function App({ returned }: { returned: Returned | undefined }) {
  const [notices, setNotices] = useState<readonly NoticeText[]>([])
  const [revealed, reveal] = useState<Revealed>()
  const dismiss = useCallback((one: NoticeText) => setNotices((all) => all.filter((other) => other !== one)), [])
  const notify = useCallback(
    (one: NoticeText) => {
      setNotices((all) => [...all.filter(({ text }) => text !== one.text), one])
      if (one.tone === 'good') setTimeout(() => dismiss(one), NOTICE_MS)
    },
    [dismiss],
  )
  const forget = useCallback(() => setNotices([]), [])
  return (
    <Boundary as="main">
      <NoticeContext.Provider value={notify}>
        <RevealContext.Provider value={reveal}>
          <SignedIn returned={returned} onEnd={forget} />
        </RevealContext.Provider>
      </NoticeContext.Provider>
      <Notices notices={notices} dismiss={dismiss} />
      {revealed && <RevealDialog revealed={revealed} onStored={() => reveal(undefined)} />}
    </Boundary>
  )
}

function SignedIn({ returned, onEnd }: { returned: Returned | undefined; onEnd(): void }) {
  const { session, isRestoring, end, federated, signIn } = useSessionControl(returned)
  // The next person does not see the notices of the last one.
  useEffect(() => (session ? onEnd : undefined), [session, onEnd])
  const route = useRoute()
  const entry = pageOf(route)
  const title = session ? (entry?.title ?? 'Not found') : 'Sign in'
  const address = session ? [route.page, ...route.parts].join('/') : undefined
  // With the page: nothing of a session that has ended stays in the title.
  useLayoutEffect(() => {
    document.title = `${title} · keyplane`
  }, [title])
  // The page loads while somebody signs in. LoadedPage shows the failure of that.
  useEffect(() => {
    if (entry) loadPart(entry.script).catch(() => {})
  }, [entry])
  if (isRestoring) return <p class="loading">Signing in…</p>
  if (!session) return <SignInPage signIn={signIn} {...(end && { end })} {...(federated && { federated })} />
  return (
    <SessionContext.Provider value={session}>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <Header page={entry?.within ?? entry?.page} />
      <Ending />
      <main id="main" tabIndex={-1}>
        {/* A page that fails takes neither the session with it nor a value that is shown once. */}
        <Boundary as="div" key={address}>
          {entry ? <LoadedPage entry={entry} route={route} onShown={begin} /> : <NotFound route={route} />}
        </Boundary>
      </main>
    </SessionContext.Provider>
  )
}

/** Scrolls to the top of a new page and focuses its heading, where screen readers begin. */
function begin(): void {
  window.scrollTo(0, 0)
  document.querySelector<HTMLElement>('h1')?.focus()
}

/** Focuses the content. A link to `#main` would change the hash, which is the route. */
const skip = () => document.getElementById('main')?.focus()

function NotFound({ route }: { route: Route }) {
  const path = [route.page, ...route.parts].join('/')
  useEffect(begin, [path])
  return (
    <Page title="Not found">
      <p>
        There is no page <Foreign text={path} />. <a href={hrefOf('keys')}>Go to the keys</a>.
      </p>
    </Page>
  )
}

function Notices({ notices, dismiss }: { notices: readonly NoticeText[]; dismiss(one: NoticeText): void }) {
  return (
    <div class="notices" aria-live="polite">
      {notices.map((one) => (
        <div class={`notice ${one.tone}`} key={one.text}>
          <p>
            <Foreign text={one.text} />
          </p>
          <button type="button" class="quiet" onClick={() => dismiss(one)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  )
}
