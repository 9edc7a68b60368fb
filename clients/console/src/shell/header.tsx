import { Brand } from '../components/brand.tsx'
import { Foreign } from '../components/foreign.tsx'
import { Time } from '../components/time.tsx'
import { useSession } from '../session/session.ts'
import { hrefOf } from '../text/routes.ts'
import { pages } from './pages.ts'

/** Shows the links to the pages, who is signed in, and the button that signs out. */
export function Header({ page }: { page: string | undefined }) {
  const { self, signOut, ends } = useSession()
  return (
    <header class="top">
      <a class="home" href={hrefOf('keys')}>
        <Brand />
      </a>
      <nav aria-label="Pages">
        {pages.map(
          (one) =>
            one.nav && (
              <a href={hrefOf(one.page)} aria-current={one.page === page ? 'page' : undefined} key={one.page}>
                {one.nav}
              </a>
            ),
        )}
      </nav>
      <div class="who">
        <span title="You are signed in as">
          <Foreign text={self.subject ?? self.accessKey} />
        </span>
        {ends !== undefined && (
          <span class="ends">
            ends <Time at={new Date(ends).toISOString()} direction="future" />
          </span>
        )}
        <button type="button" class="quiet" onClick={signOut}>
          Sign out
        </button>
      </div>
    </header>
  )
}
