/** Asks the server for keys that were not read, while a person types. */
import { useEffect, useState } from 'preact/hooks'
import { partsOf } from '../../keylist/filter.ts'
import type { Search } from '../../keylist/serversearch.ts'
import { useSession } from '../../session/session.ts'

/** Not each letter that a person types is a question. */
const PAUSE_MS = 300

/** Returns what has come of a filter, if there is one. The server is asked again when `version` changes. */
export function useServerSearch(filter: string, version: unknown): Search | undefined {
  const { api, self } = useSession()
  const own = self.accessKey
  const [state, setState] = useState<{ filter: string; search: Search }>()
  useEffect(() => {
    if (filter === '') return
    const ended = new AbortController()
    const show = (search: Search) => {
      if (!ended.signal.aborted) setState({ filter, search })
    }
    const ask = async () => {
      try {
        const { questionOf, askServer } = await import('../../keylist/serversearch.ts')
        const question = questionOf(partsOf(filter))
        show(question ? { question } : {})
        if (question) show({ question, answer: await askServer({ api, own }, question, ended.signal) })
      } catch (error) {
        show({ error })
      }
    }
    const timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [api, own, filter, version])
  return filter !== '' && state?.filter === filter ? state.search : undefined
}
