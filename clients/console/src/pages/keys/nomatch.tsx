import { Empty } from '../../components/empty.tsx'
import { noMatchTitle } from '../../keylist/searched.ts'
import type { Search } from '../../keylist/serversearch.ts'
import { hrefOf } from '../../text/routes.ts'

export const NewKey = () => (
  <a class="button primary" href={hrefOf('new-key')}>
    New key
  </a>
)

export interface NoMatchProps {
  /** Keys of exchanges that match and are not shown. */
  hidden: number
  /** Whether there are keys that were not read. */
  more: boolean
  search: Search | undefined
  /** The key of the session, if the filter names it as the maker. */
  own: string | undefined
  onClear(): void
  onShow(): void
}

/** Offers ways out when no key matches the filter and the card. */
export const NoMatch = ({ hidden, more, search, own, onClear, onShow }: NoMatchProps) => (
  <Empty title={noMatchTitle(more, search, own)}>
    {hidden > 0 && (
      <button type="button" onClick={onShow}>
        Show {hidden === 1 ? 'the key of an exchange that matches' : `the ${hidden} keys of exchanges that match`}
      </button>
    )}
    <button type="button" onClick={onClear}>
      Show all keys
    </button>
  </Empty>
)
