import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Foreign, Paragraph } from '../components/foreign.tsx'
import { useLeaveWarning } from '../components/hooks/useleavewarning.ts'
import { Page } from '../components/page.tsx'
import { loadPart } from '../components/part.tsx'
import { RevealDialog } from '../components/revealdialog.tsx'
import { SignInPage } from '../pages/signin/signinpage.tsx'
import type { Returned } from '../session/attempt.ts'
import { NoticeContext, type NoticeText } from '../session/notices.ts'
import { RevealContext } from '../session/revealed.ts'
import { type Session, SessionContext } from '../session/session.ts'
import { useSessionControl } from '../session/usesession.ts'
import {
  missedWords,
  noValues,
  personOf,
  type Revealed,
  shownValue,
  withoutShown,
  withPerson,
  withValue,
} from '../session/values.ts'
import { hrefOf, type Route, routeOf } from '../text/routes.ts'
import { Boundary } from './boundary.tsx'
import { Ending } from './ending.tsx'
import { Header } from './header.tsx'
import { LoadedPage } from './loadedpage.tsx'
import { pageOf } from './pages.ts'

/** How long a notice stays, in milliseconds. Warnings and errors stay until they are dismissed. */
const NOTICE_MS = 6000

const WAITING: NoticeText = {
  tone: 'warn',
  text: 'A value waits for the person who made it: sign in again in this tab.',
}

/** Shows the whole console. Notices and the values that are shown once are outside of the session: a value waits for the next one of its person. */
export function App({ returned }: { returned: Returned | undefined }) {
  const [notices, setNotices] = useState<readonly NoticeText[]>([])
  const [values, setValues] = useState(noValues)
  const dismiss = useCallback((one: NoticeText) => setNotices((all) => all.filter((other) => other !== one)), [])
  const notify = useCallback(
    (one: NoticeText) => {
      setNotices((all) => [...all.filter(({ text }) => text !== one.text), one])
      if (one.tone === 'good') setTimeout(() => dismiss(one), NOTICE_MS)
    },
    [dismiss],
  )
  const forget = useCallback(() => setNotices([]), [])
  const reveal = useCallback(
    ({ self }: Session, one: Revealed) => setValues((all) => withValue(all, personOf(self), one)),
    [],
  )
  const enter = useCallback(
    (session: Session | undefined) => setValues((all) => withPerson(all, session && personOf(session.self))),
    [],
  )
  const missed = missedWords(values)
  useEffect(() => {
    if (missed) notify({ tone: 'warn', text: missed })
  }, [missed, notify])
  const revealed = shownValue(values)
  const isWaiting = values.person === undefined && values.waiting.length > 0
  useLeaveWarning(isWaiting)
  const shown = isWaiting ? [...notices, WAITING] : notices
  return (
    <Boundary as="main">
      <NoticeContext.Provider value={notify}>
        <RevealContext.Provider value={reveal}>
          <SignedIn returned={returned} onSession={enter} onEnd={forget} />
        </RevealContext.Provider>
      </NoticeContext.Provider>
      <Notices notices={shown} dismiss={dismiss} />
      {revealed && <RevealDialog key={revealed.value} revealed={revealed} onStored={() => setValues(withoutShown)} />}
    </Boundary>
  )
}

interface Sessions {
  returned: Returned | undefined
  /** Called before anything of a session is shown, and when it has ended. */
  onSession(session: Session | undefined): void
  onEnd(): void
}

function SignedIn({ returned, onSession, onEnd }: Sessions) {
  const { session, isRestoring, end, federated, signIn } = useSessionControl(returned)
  useLayoutEffect(() => onSession(session), [session, onSession])
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
  useLayoutEffect(() => {
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
          {entry ? <LoadedPage entry={entry} route={route} /> : <NotFound route={route} />}
        </Boundary>
      </main>
    </SessionContext.Provider>
  )
}

/** Focuses the content. A link to `#main` would change the hash, which is the route. */
const skip = () => document.getElementById('main')?.focus()

function NotFound({ route }: { route: Route }) {
  const path = [route.page, ...route.parts].join('/')
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
          <Paragraph text={one.text} />
          <button type="button" class="quiet" onClick={() => dismiss(one)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  )
}

/** Returns the current route, and follows the address. */
function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash))
  useLayoutEffect(() => {
    const follow = () => setRoute(routeOf(location.hash))
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  return route
}
