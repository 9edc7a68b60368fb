import type { AccessKey } from '../../../../core/src/objects.ts'
import { MAX_LISTED } from '../../api/lists.ts'
import { Foreign } from '../../components/foreign.tsx'
import { ownWords, type Search, searchWords } from '../../keylist/serversearch.ts'
import { unreadName } from '../../keylist/unknown.ts'
import { hrefOf } from '../../text/routes.ts'

export interface ToldProps {
  /** What the filter has searched on the server, if there are keys that were not read or `own` is the maker that it names. */
  search: Search | undefined
  /** Whether there are keys that were not read. */
  isCut: boolean
  filter: string
  own: string | undefined
  read: readonly AccessKey[]
  /** The cluster that the filter names. */
  reached: string | undefined
}

/** Says what the list leaves out: keys that were not read or found, and that the person may not list. */
export function Told({ search = {}, isCut, filter, own, read, reached }: ToldProps) {
  const name = unreadName(filter, read)
  const words = [
    ...(own !== undefined ? [ownWords(own, search)] : isCut && filter !== '' ? [searchWords(search)] : []),
    isCut && filter === '' && FIRST,
    reached &&
      (reached.includes('/')
        ? `The page of ${reached} says who reaches it.`
        : `These active keys may get a token for ${reached}, of those that you may list. ${RIGHTS}`),
  ].filter(Boolean)
  if (words.length === 0) return null
  return (
    <p class="hint" role="status">
      <Foreign text={words.join(' ')} />{' '}
      {isCut && own === undefined && name !== undefined && !search.answer?.isKnown && (
        <a href={hrefOf('keys', [name])}>
          Look for the key <Foreign text={name} />
        </a>
      )}
    </p>
  )
}

const FIRST = `These are the first ${MAX_LISTED} of more keys. The filter also finds the others, by the beginning of a name, owner:NAME or maker:NAME.`
const RIGHTS = "Scopes and the cluster's RBAC say what it may do there."
