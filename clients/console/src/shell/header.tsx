import { Brand } from '../components/brand.tsx'
import { Foreign } from '../components/foreign.tsx'
import { Time } from '../components/time.tsx'
import { useSession } from '../session/session.ts'
import { hrefOf } from '../text/routes.ts'
import { HelpButton } from './help/helpbutton.tsx'
import { pages } from './pages.ts'
import { PaletteButton } from './palette/palettebutton.tsx'

const links = pages.filter(({ nav }) => nav !== undefined)

/** Shows the links to the pages, who is signed in, and the buttons of the palette, of the help and for signing out. */
export function Header({ page }: { page: string | undefined }) {
  const { self, signOut, ends } = useSession()
  return (
    <header class="top">
      <a class="home" href={hrefOf('keys')}>
        <Brand />
      </a>
      <nav aria-label="Pages">
        {links.map((one) => (
          <a href={hrefOf(one.page)} aria-current={one.page === page ? 'page' : undefined} key={one.page}>
            {one.nav}
          </a>
        ))}
      </nav>
      <div class="who">
        <PaletteButton pages={links} />
        <HelpButton />
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
