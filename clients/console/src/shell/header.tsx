import { Brand } from '../components/brand.tsx'
import { NameLink } from '../components/foreign.tsx'
import { part } from '../components/part.tsx'
import { Time } from '../components/time.tsx'
import { useSession } from '../session/session.ts'
import { hrefOf } from '../text/routes.ts'
import { shortcuts } from '../text/shortcuts.ts'
import { DialogButton } from './dialogbutton.tsx'
import { pages } from './pages.ts'

const help = part(async () => (await import('./help/help.tsx')).Help)
const palette = part(async () => (await import('./palette/palette.tsx')).Palette)
const links = pages.filter(({ isLink }) => isLink)

/** Shows the links to the pages, who is signed in, and the buttons of the palette, of the help and for signing out. */
export function Header({ page }: { page: string | undefined }) {
  const { self, signOut, ends } = useSession()
  return (
    <header class="top">
      <a class="home" href={hrefOf('overview')}>
        <Brand />
      </a>
      <nav aria-label="Pages">
        {links.map((one) => (
          <a href={hrefOf(one.page)} aria-current={one.page === page ? 'page' : undefined} key={one.page}>
            {one.title}
          </a>
        ))}
      </nav>
      <div class="who">
        <DialogButton shortcut="palette" dialog={palette} props={{ pages: links }} title={shortcuts.palette.keys}>
          Go to
        </DialogButton>
        <DialogButton shortcut="help" dialog={help} props={{}} label="Help">
          ?
        </DialogButton>
        <NameLink
          href={hrefOf('keys', [self.accessKey])}
          text={self.subject ?? self.accessKey}
          title="The key that you use"
        />
        {ends !== undefined && (
          <span>
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
